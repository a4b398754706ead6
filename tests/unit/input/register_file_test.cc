// SPDX-License-Identifier: Apache-2.0
//
// Inputs with all sorts of module ids: which are linked, and what the register file says, by the
// library and by nvlink.
#include "input/register_file.h"

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>

#include "input/expand.h"
#include "support/catch.h"
#include "support/elf_builder.h"
#include "support/process.h"
#include "support/text.h"
#include "support/toolkit.h"
#include "unit/input/device_files.h"

namespace devlink::testing {
namespace {

using namespace std::string_literals;

// The library's answer: the file, and the names of the inputs that are linked.
struct Answer {
  std::string file;
  std::vector<std::string> linked;
  bool refused = false;
};

Answer Ask(const std::vector<std::string>& names, const std::map<std::string, ByteVector>& files,
           const std::string& working_directory) {
  std::vector<internal::Expansion> expansions;
  for (const std::string& name : names) {
    expansions.push_back(
        internal::ExpandInput(name, files.at(name), {Compatibility::kNvlink, false, nullptr}));
  }
  std::vector<internal::PrelinkCandidate> inputs;
  std::vector<std::string_view> prelinked;
  Answer out;
  for (const internal::Expansion& found : expansions) {
    prelinked.insert(prelinked.end(), found.prelinked_ids.begin(), found.prelinked_ids.end());
    out.refused |= found.mixed_module_ids;
    for (const auto& blob : found.blobs) inputs.push_back({blob.name, &blob.module_ids});
  }
  const auto left_out = internal::FindPrelinked(inputs, prelinked, working_directory);
  out.refused |= !left_out.ok();
  if (out.refused) return out;
  std::vector<internal::RegisteredModule> modules;
  std::vector<std::string> made(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const bool left = (*left_out)[i];
    if (!left) out.linked.emplace_back(inputs[i].name);
    made[i] = internal::MakeModuleId(working_directory, inputs[i].name);
    const auto& own = inputs[i].ids->own;
    modules.push_back(own.empty() ? internal::RegisteredModule{{made[i]}, left}
                                  : internal::RegisteredModule{own, left});
  }
  out.file = internal::RegisterFileText(modules);
  return out;
}

// Inputs, each with a kernel `k_NAME` of its own; the text is what its `__nv_module_id` has.
const std::map<std::string, std::string> kIds = {
    {"a", "_a\0"s},
    {"b", "_b\0"s},
    {"without_end", "_e"s},
    {"empty", ""s},
    {"only_end", "\0"s},
    {"two", "_t1\0_t2\0"s},
    {"three", "_h1\0\0\0_h2\0_h3\0"s},
    {"empty_first", "\0_f\0"s},
    {"def_behind", "_g\0def _a\0"s},
    {"mixed", "def _a\0_b\0"s},
    {"def_a", "def _a\0"s},
    {"def_all", "def _a\0\0\0def _b\0def _t1\0def _h2"s},
    {"def_blanks", "def  _a\0"s},
    {"def_longer", "def _ab\0"s},
    {"def_alone", "def\0"s},
    {"def_empty", "def \0"s},
    {"def_two", "def _t1\0def _t2\0"s},
};

const std::vector<std::vector<std::string>> kLinks = {
    {"a", "b"},
    {"b", "a", "without_end", "empty"},
    {"only_end", "two", "three", "b"},
    {"three", "two", "a"},
    {"empty_first", "def_behind", "a"},
    {"mixed", "a"},
    {"a", "mixed"},
    {"def_a", "a", "b"},
    {"a", "b", "def_a"},
    {"a", "two", "three", "def_all", "b"},
    {"def_blanks", "a"},
    {"def_longer", "a"},
    {"def_alone", "a"},
    {"def_empty", "empty", "only_end", "a"},
    {"two", "def_two", "a"},
    {"def_two", "a", "two", "three"},
    {"none", "a"},
    {"two", "none", "three", "bare_def_a", "a"},
    {"bare_def_none", "none", "a"},
    {"archive", "b"},
    {"archive", "bare_def_a"},
};

class Links {
 public:
  explicit Links(const Toolkit& toolkit) : toolkit_(toolkit) {}

  bool Make() {
    for (const auto& [name, ids] : kIds) {
      if (!Add(name, ids)) return false;
    }
    if (!Add("none", std::nullopt) || !Add("member", std::nullopt)) return false;
    const std::string none_id = internal::MakeModuleId(directory_.path().string(), "none.o");
    files_["bare_def_a.o"] = BuildElf({{"__nv_module_id", "def _a\0"s}});
    files_["bare_def_none.o"] = BuildElf({{"__nv_module_id", "def " + none_id + '\0'}});
    files_["archive.o"] = BuildArchive(
        {{"a.o", files_["a.o"]}, {"two.o", files_["two.o"]}, {"m-m.o", files_["member.o"]}});
    for (const auto& [name, bytes] : files_) {
      if (!WriteBytes(directory_.File(name), bytes)) return false;
    }
    return true;
  }

  void Check(const std::vector<std::string>& link) {
    std::vector<std::string> names;
    std::string command = "cd " + directory_.path().string() + " && rm -f out reg && " +
                          toolkit_.nvlink + " -arch=sm_90 -ignore-host-info -o out " +
                          "--register-link-binaries=reg";
    for (const std::string& name : link) {
      names.push_back(name + ".o");
      command += " " + names.back();
    }
    const ProcessResult run = RunProcess({"/bin/sh", "-c", command});
    const Answer answer = Ask(names, files_, directory_.path().string());
    CAPTURE(command, run.err);
    CHECK(answer.refused == !run.ok());
    if (answer.refused) {
      CHECK(run.err == "nvlink fatal   : unexpected data in module_ids\n");
      return;
    }
    CHECK(ReadText(directory_.File("reg")) == answer.file);
    const std::string output = ReadText(directory_.File("out")).value_or("");
    for (const auto& [name, bytes] : files_) {
      // A member's kernel is that of the file of the same name.
      bool linked = false;
      for (const std::string& one : answer.linked) {
        const std::string last = one.substr(one.find(':') + 1);
        linked |= (last == "m-m.o" ? "member.o" : last) == name;
      }
      const std::string kernel = ".text.k_" + name.substr(0, name.size() - 2) + '\0';
      CAPTURE(name);
      CHECK(linked == (output.find(kernel) != std::string::npos));
    }
  }

 private:
  bool Add(const std::string& name, const std::optional<std::string>& ids) {
    const auto fatbin = CompileToFatbin(toolkit_, directory_, "k_" + name);
    if (!fatbin.has_value()) return false;
    std::vector<ElfSection> sections = {{"__nv_relfatbin", ToText(*fatbin)},
                                        {".nvFatBinSegment", std::string(24, '\0')}};
    if (ids.has_value()) sections.push_back({"__nv_module_id", *ids});
    files_[name + ".o"] = BuildElf(sections);
    return true;
  }

  const Toolkit& toolkit_;
  TemporaryDirectory directory_;
  std::map<std::string, ByteVector> files_;
};

TEST_CASE("The register file and what is left out are as nvlink has them", "[input][toolkit]") {
  const std::optional<Toolkit> toolkit = FindToolkit();
  if (!toolkit.has_value()) DEVLINK_SKIP("no CUDA toolkit");
  if (toolkit->release != "13.0") DEVLINK_SKIP("the rules are those of CUDA 13.0");
  Links links(*toolkit);
  REQUIRE(links.Make());
  for (const auto& link : kLinks) links.Check(link);
}

}  // namespace
}  // namespace devlink::testing
