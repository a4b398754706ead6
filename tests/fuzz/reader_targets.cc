// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/bounded_reader.h"
#include "devlink/devlink.h"
#include "devlink/experimental/code_choice.h"
#include "devlink/experimental/fatbin.h"
#include "devlink/experimental/lto_ir.h"
#include "format/call_graph_records.h"
#include "format/notes.h"
#include "format/nv_compat.h"
#include "format/nv_info.h"
#include "fuzz/targets.h"
#include "input/archive.h"
#include "input/host_object.h"
#include "input/recognise.h"
#include "support/text.h"

namespace devlink::testing {
namespace {

constexpr std::uint64_t kMemory = std::uint64_t{256} << 20;

LinkOptions Options() {
  LinkOptions options;
  options.target = Arch{.number = 80};
  options.max_memory_bytes = kMemory;
  return options;
}

// As a file of this name would be read and linked. Neither may fail without a word.
void LinkInput(std::string_view name, FuzzBytes bytes) {
  auto session = LinkSession::Create(Options());
  Expect(session.ok(), "no session");
  const bool added = session->AddInput(name, {bytes.begin(), bytes.end()}).ok();
  const LinkOutcome outcome = session->Link();
  if (!added || !outcome.ok()) Expect(!outcome.diagnostics.empty(), "refused without a word");
  for (const Diagnostic& diagnostic : outcome.diagnostics) {
    const std::string line = RenderDiagnostic(diagnostic, "devlink");
    for (const char c : line) {
      Expect(c == '\n' || c == '\t' || static_cast<unsigned char>(c) >= 0x20,
             "a control character in a message");
    }
  }
}

}  // namespace

void FuzzCubin(FuzzBytes bytes) {
  ModulePool pool;
  const auto module = pool.AddCubin(bytes);
  if (!module.ok()) {
    Expect(!module.status().message().empty(), "refused without a word");
    return;
  }
  const ModuleInfo info = InspectModule(*module);
  Expect(info.bytes == bytes.size(), "a module of another size");
  LinkOptions options = Options();
  options.target = info.arch;
  for (const bool relocatable : {false, true}) {
    options.relocatable = relocatable;
    auto session = LinkSession::Create(options);
    if (!session.ok()) return;
    (void)session->AddModule("fuzzed", *module);
    const LinkOutcome outcome = session->Link();
    Expect(outcome.ok() || !outcome.diagnostics.empty(), "failed without a word");
  }
}

void FuzzArchive(FuzzBytes bytes) {
  const auto no_file = [](const std::string&) -> absl::StatusOr<std::vector<std::uint8_t>> {
    return absl::NotFoundError("no files here");
  };
  const auto archive = internal::ReadArchive("fuzzed.a", bytes, no_file);
  if (archive.ok() && !archive->thin) {
    for (const internal::ArchiveMember& member : archive->members) {
      Expect(member.bytes.empty() ||
                 (member.bytes.data() >= bytes.data() &&
                  member.bytes.data() + member.bytes.size() <= bytes.data() + bytes.size()),
             "a member outside of its archive");
    }
  }
  LinkInput("fuzzed.a", bytes);
}

void FuzzHostObject(FuzzBytes bytes) {
  const auto object = internal::ReadHostObject(bytes);
  if (object.ok()) {
    for (const base::Bytes fatbin : object->fatbins) {
      Expect(fatbin.size() <= bytes.size(), "device code larger than its object");
    }
  }
  LinkInput("fuzzed.o", bytes);
}

void FuzzFatbin(FuzzBytes bytes) {
  const FatbinLimits limits{.max_members = 4096, .max_uncompressed_size = 1 << 24};
  const auto fatbin = Fatbin::Parse(bytes, limits);
  if (fatbin.ok()) {
    const auto candidates = fatbin->Candidates();
    Expect(candidates.size() == fatbin->members().size(), "a member that is no candidate");
    std::uint64_t extracted = 0;
    for (const FatbinMember& member : fatbin->members()) {
      if (extracted > (1 << 24)) break;
      const auto code = fatbin->Extract(member);
      if (code.ok()) extracted += code->size();
      Expect(!code.ok() || code->size() <= limits.max_uncompressed_size, "beyond the limit");
      (void)fatbin->Isolate(member);
    }
  }
  LinkInput("fuzzed.fatbin", bytes);
}

void FuzzLtoContainer(FuzzBytes bytes) {
  const auto ir = LtoIr::Parse(bytes);
  if (ir.ok()) {
    Expect(ir->payload.size() <= bytes.size(), "a payload larger than its container");
    (void)ir->Check(Arch{.number = 90});
  }
  LinkInput("fuzzed.ltoir", bytes);
}

// Records that are read without the rest of a cubin: each byte counts for one of them.
void FuzzAttributes(FuzzBytes bytes) {
  format::InfoReader records(bytes);
  format::InfoRecord record;
  std::uint64_t payload = 0;
  while (records.Next(record)) {
    payload += record.payload.size();
    (void)format::SymbolsOf(record);
    (void)format::InfoAttributeName(record.id);
  }
  Expect(payload <= bytes.size(), "attributes that share bytes");
  format::CompatFacts facts;
  if (format::ReadCompat(bytes, facts).ok()) {
    const ToolkitProfile profile;
    format::CompatMerger merger(profile);
    merger.Add(bytes);
    merger.Add(bytes);
  }
  (void)format::ReadCudaInfo(bytes);
  format::CallGraphReader pairs(bytes);
  format::CallGraphPair pair;
  std::uint64_t count = 0;
  while (pairs.Next(pair)) ++count;
  Expect(count * 8 <= bytes.size(), "more pairs than bytes");
}

}  // namespace devlink::testing
