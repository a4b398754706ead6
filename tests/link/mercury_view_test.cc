// SPDX-License-Identifier: Apache-2.0
//
// The Mercury views of inputs for sm_100, merged by the rules that hold for machine code, are what
// nvlink writes: every `.nv.merc.*` section byte for byte, `.nv.merc.symtab`, the relocations, the
// order of capsules (`.nv.capmerc.text.F`) and their sizes, shared memory, the call graph.
//
// In that, not compared: the bytes of capsules, into which NVIDIA's finalizer writes section
// numbers and constants; the view of machine code; notes and `.nv.compat`; the layout of the file.
//
// Then the whole file that devlink links without that finalizer is nvlink's, but for what the
// finalizer changes (support/two_views.h).
//
// `./mercury_view_test "globals"` runs one program.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "devlink-diff/cubin_view.h"
#include "devlink/devlink.h"
#include "format/views.h"
#include "image/describe.h"
#include "link/case_file.h"
#include "link/pass_results.h"
#include "merge/merge.h"
#include "model/module.h"
#include "random/cuda_program.h"
#include "random/link_pair.h"
#include "random/ptx_program.h"
#include "support/catch.h"
#include "support/mercury_golden.h"
#include "support/mercury_text.h"
#include "support/process.h"
#include "support/text.h"
#include "support/toolkit.h"
#include "support/two_views.h"

namespace devlink::testing {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Lines = std::vector<std::string>;

constexpr std::string_view kTarget = "sm_100";
// Its cubins have memory that is reserved (docs/mercury.md).
constexpr std::string_view kTargetWithReserved = "sm_110";

// The first section or symbol of an input that is not where its map says; empty where all are.
std::string FirstMisplaced(const std::vector<internal::LinkInput>& inputs,
                           const internal::Program& program, const internal::InputMaps& maps) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const internal::ModuleView& view = inputs[i].module->view(format::ViewKind::kMercury);
    for (std::uint32_t s = 1; s < view.section_count(); ++s) {
      const internal::SectionPlace& place = maps[i].sections[s];
      const internal::InputSection section = view.SectionAt(s);
      if (place.section == internal::kNone || place.by_record || section.data.empty()) continue;
      const auto& pieces = program.sections[place.section].pieces;
      const auto is_there = [&](const internal::Piece& piece) {
        return piece.offset == place.base && piece.bytes.data() == section.data.data();
      };
      if (std::none_of(pieces.begin(), pieces.end(), is_there)) {
        return Cat(section.name, " of ", inputs[i].name);
      }
    }
    for (std::uint32_t s = 1; s < view.symbol_count(); ++s) {
      const internal::SymbolId symbol = maps[i].symbols[s];
      if (symbol == internal::kNone) continue;
      const std::string_view name = view.SymbolAt(s).name;
      if (!name.empty() && program.symbols[symbol].name != name) {
        return Cat(name, " of ", inputs[i].name);
      }
    }
  }
  return {};
}

// The passes of an executable link, over the Mercury views alone.
absl::StatusOr<Bytes> LinkMercuryViews(const std::vector<Bytes>& files, bool debug) {
  using namespace internal;  // NOLINT: the passes
  const ImageSettings settings{.target = *Arch::Parse(kTarget)};
  std::vector<LinkInput> inputs;
  for (const Bytes& file : files) {
    auto module = Module::Load(file);
    if (!module.ok()) return module.status();
    if (!(*module)->HasView(format::ViewKind::kMercury)) {
      return absl::NotFoundError("an input has no Mercury view");
    }
    inputs.push_back({.name = Cat("input ", inputs.size() + 1), .module = *std::move(module)});
  }
  std::vector<Diagnostic> found;
  auto merged = Merge(inputs,
                      {.sm = settings.target.number,
                       .profile = settings.profile,
                       .compatibility = Compatibility::kNvlink,
                       .view = format::ViewKind::kMercury,
                       .keep_maps = true},
                      found);
  if (!merged.ok()) return merged.status();
  Program program = std::move(merged->program);
  if (std::string lost = FirstMisplaced(inputs, program, merged->maps); !lost.empty()) {
    return absl::InternalError(Cat("the maps misplace ", lost));
  }
  CallGraph graph(program);
  Liveness liveness = FindLiveFunctions(program, graph, debug, {}, {.as_nvlink = true});
  SharedLayout shared = LayOutShared(program, graph, liveness, {.reserved = 0, .debug = debug});
  ConstantLayout constants = LayOutConstants(program, graph, liveness);
  TextureLayout textures = LayOutTextures(program, graph, liveness);
  Resources resources = PropagateResources(program, graph, liveness);
  Attributes attributes = PropagateAttributes(program, graph, liveness, {});
  Relocated relocated = Relocate(program, liveness, shared, constants, textures);
  CubinDescription cubin =
      Describe(std::make_unique<internal::PassResults>(internal::PassResults{
                   std::move(program), std::move(graph), std::move(liveness), std::move(shared),
                   std::move(constants), std::move(textures), std::move(resources),
                   std::move(attributes), std::move(relocated), std::move(merged->file)}),
               settings);
  return cubin.writer.Write();
}

// The first lines in which two descriptions differ; empty where they are equal.
std::string FirstDifference(const Lines& expected, const Lines& actual) {
  const auto [theirs, ours] =
      std::mismatch(expected.begin(), expected.end(), actual.begin(), actual.end());
  if (theirs == expected.end() && ours == actual.end()) return {};
  std::string out;
  for (auto line = theirs; line != expected.end() && line < theirs + 3; ++line) {
    Append(out, "nvlink: ", *line, "\n");
  }
  for (auto line = ours; line != actual.end() && line < ours + 3; ++line) {
    Append(out, "ours:   ", *line, "\n");
  }
  const auto is_heading = [](const std::string& line) { return !line.starts_with(' '); };
  for (auto line = theirs; line != expected.begin();) {
    if (!is_heading(*--line)) continue;
    Append(out, "behind: ", *line, "\n");
    break;
  }
  return out;
}

struct Link {
  std::vector<std::string> inputs;
  std::vector<std::string> flags;
  bool partial = true;    // compare what -r writes, too
  bool preserves = true;  // and what -preserve-relocs adds
  std::string_view target = kTarget;
};

std::string Compare(const std::vector<Bytes>& inputs, const Bytes& linked, bool debug) {
  const auto merged = LinkMercuryViews(inputs, debug);
  if (!merged.ok()) return Cat("the views do not link: ", merged.status().ToString());
  // Where code is linked for debugging, the finalizer puts instructions before every exit of what
  // was not compiled for it.
  bool any_debug = debug;
  for (const Bytes& input : inputs) {
    any_debug = any_debug || diff::ViewCubin(input).Find(".debug_info") != nullptr;
  }
  return FirstDifference(DescribeLinkedMercury(linked, !any_debug),
                         DescribeMergedMercury(*merged, !any_debug));
}

Lines Split(const std::string& text) {
  Lines out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

TEST_CASE("The Mercury view of two files is what nvlink wrote", "[mercury]") {
  const auto merged =
      LinkMercuryViews({MercuryGolden("first.cubin"), MercuryGolden("second.cubin")}, false);
  REQUIRE(merged.ok());
  const auto text = ReadText(DEVLINK_TEST_SOURCE "/golden/mercury/linked.txt");
  REQUIRE(text);
  const std::string difference = FirstDifference(Split(*text), DescribeMergedMercury(*merged));
  INFO(difference);
  CHECK(difference.empty());
}

// --- with a toolkit
// -------------------------------------------------------------------------------

std::atomic<int> compared = 0;
std::atomic<int> finalized = 0;  // links in which nvlink's finalizer changed something

struct Form {
  bool relocatable = false;
  bool preserve_relocations = false;
};

// The file as a session links it.
std::string CompareFiles(const Link& link, const std::vector<Bytes>& inputs, const Bytes& linked,
                         bool debug, const Form& form = {}) {
  LinkOptions options;
  options.target = *Arch::Parse(link.target);
  options.debug = debug;
  options.relocatable = form.relocatable;
  options.preserve_relocations = form.preserve_relocations;
  if (form.relocatable || form.preserve_relocations) {
    options.compatibility = Compatibility::kNvlink;
  }
  const auto link_all = [&]() -> devlink::LinkOutcome {
    auto session = LinkSession::Create(options);
    if (!session.ok()) return {.status = session.status()};
    for (const Bytes& input : inputs) {
      if (absl::Status added = session->AddCubin("input", input); !added.ok()) {
        return {.status = added};
      }
    }
    return session->Link();
  };
  auto result = link_all();
  if (KeepsLost(result.diagnostics)) {
    options.compatibility = Compatibility::kNvlink;
    result = link_all();
  }
  if (!result.ok()) return Cat("the files do not link: ", result.status.ToString());
  const TwoViewComparison comparison = CompareTwoViews(linked, result.cubin);
  if (comparison.finalized != 0) ++finalized;
  return comparison.difference;
}

// Empty where nvlink does not link the files at all, or the views agree.
std::string LinkAndCompare(const Toolkit& toolkit, const Link& link, const std::string& output) {
  std::vector<std::string> command = {toolkit.nvlink, Cat("-arch=", link.target)};
  command.insert(command.end(), link.flags.begin(), link.flags.end());
  command.insert(command.end(), link.inputs.begin(), link.inputs.end());
  command.insert(command.end(), {"-o", output});
  if (!RunProcess(command).ok()) return {};
  std::vector<Bytes> inputs;
  for (const std::string& input : link.inputs) {
    inputs.push_back(ReadBytes(input).value_or(Bytes()));
  }
  const bool debug = std::find(link.flags.begin(), link.flags.end(), "-g") != link.flags.end();
  ++compared;
  const Bytes linked = ReadBytes(output).value_or(Bytes());
  std::string difference;
  if (link.target == kTarget) difference = Compare(inputs, linked, debug);
  if (difference.empty()) difference = CompareFiles(link, inputs, linked, debug);
  if (!difference.empty()) return difference;
  std::vector<Form> forms;
  if (link.preserves) forms.push_back({.preserve_relocations = true});
  if (link.partial) {
    forms.push_back({.relocatable = true});
    forms.push_back({.relocatable = true, .preserve_relocations = true});
  }
  for (const Form& form : forms) {
    std::vector<std::string> other = command;
    if (form.relocatable) other.emplace_back("-r");
    if (form.preserve_relocations) other.emplace_back("-preserve-relocs");
    if (!RunProcess(other).ok()) continue;
    difference = CompareFiles(link, inputs, ReadBytes(output).value_or(Bytes()), debug, form);
    if (!difference.empty()) {
      return Cat(form.relocatable ? "with -r " : "with ",
                 form.preserve_relocations ? "-preserve-relocs: " : ": ", difference);
    }
  }
  return {};
}

// What -r and -preserve-relocs do not do alike.
bool IsOpenInPartialLinks(std::string_view name) {
  return name.starts_with("texture_") || name == "debug_frame_of_replaced";
}

// What the merge does not do alike (docs/mercury.md, "Open").
bool IsOpen(std::string_view name) {
  // Slots of texture references lie in a bank of their own in the Mercury view.
  if (name == "texture_behind_all" || name == "texture_references" || name == "texture_samplers" ||
      name == "texture_dead" || name == "texture_parameters" || name == "texture_unnormalized") {
    return true;
  }
  // Registers of a discarded body that came first: nvlink writes places of neither body.
  if (name == "debug_info_of_replaced") return true;
  // Of a kernel's own list of jump tables nvlink keeps a name.
  return name == "weak_strange_constants" || name == "weak_strange_constants_kept";
}

void CheckCase(const LinkCase& program, std::string_view target) {
  const auto toolkit = FindToolkit();
  if (!toolkit) DEVLINK_SKIP("no CUDA toolkit");
  static CaseCompiler compiler(*toolkit);
  const TemporaryDirectory directory("devlink-mercury");
  Link link{.target = target};
  for (const std::string& flag : program.link_flags) {
    if (flag == "-g") link.flags.push_back(flag);
  }
  for (const CaseFile& file : program.files) {
    const std::string output = directory.File(file.path.filename().string() + ".cubin");
    const ProcessResult result =
        compiler.Compile(program, file, target.substr(3), output, FrontEnd::kEach);
    if (!result.ok()) DEVLINK_SKIP("does not compile for this target");
    link.inputs.push_back(output);
  }
  link.partial = !IsOpenInPartialLinks(program.name);
  link.preserves = link.partial;
  const std::string difference = LinkAndCompare(*toolkit, link, directory.File("out.cubin"));
  INFO(difference);
  CHECK(difference.empty() != IsOpen(program.name));
}

// Code for sm_100 with double-precision arithmetic does not run on sm_103 as it is.
TEST_CASE("What needs the finalizer for a relative is refused without it", "[mercury]") {
  const auto toolkit = FindToolkit();
  if (!toolkit) DEVLINK_SKIP("no CUDA toolkit");
  const TemporaryDirectory directory("devlink-mercury");
  for (const std::string_view type : {"float", "double"}) {
    const std::string source = directory.File(Cat(type, ".cu"));
    const std::string cubin = directory.File(Cat(type, ".cubin"));
    std::ofstream(source) << "__global__ void k(" << type << "* p) { p[0] = p[1] * p[2] + p[3]; }";
    const std::vector<std::string> compile = {toolkit->nvcc, "-rdc=true", "-cubin", "-arch=sm_100",
                                              source,        "-o",        cubin};
    REQUIRE(RunProcess(compile).ok());
    LinkOptions options;
    options.target = *Arch::Parse("sm_103");
    auto session = LinkSession::Create(options);
    REQUIRE(session.ok());
    REQUIRE(session->AddCubin(cubin, ReadBytes(cubin).value_or(Bytes())).ok());
    const auto result = session->Link();
    CHECK(result.ok() == (type == "float"));
    if (result.ok()) continue;
    REQUIRE(result.diagnostics.size() == 1);
    CHECK(result.diagnostics[0].text == Cat("'", cubin, "' was made for another architecture than ",
                                            "sm_103 and needs NVIDIA's finalizer"));
  }
}

enum class Kind { kPtx, kCuda };

void CheckRandom(Kind kind, std::uint64_t first, std::uint64_t end) {
  const auto toolkit = FindToolkit();
  if (!toolkit) DEVLINK_SKIP("no CUDA toolkit");
  constexpr ProgramTarget kProgramTarget = {.number = 100, .variant = 0};
  for (std::uint64_t seed = first; seed < end; ++seed) {
    const TemporaryDirectory directory("devlink-mercury");
    const RandomProgram program = kind == Kind::kCuda ? MakeCudaProgram(seed, kProgramTarget)
                                                      : MakePtxProgram(seed, kProgramTarget);
    LinkPair pair(*toolkit, kProgramTarget, directory.path() / "program", "");
    std::string error;
    if (!pair.Compile(program, error)) continue;
    Link link{.partial = false,
              .preserves = false};  // docs/mercury.md, "Open", has what random ones showed
    for (const std::string& input : pair.inputs()) {
      link.inputs.push_back((pair.directory() / input).string());
    }
    const auto& flags = program.link_flags;
    if (std::find(flags.begin(), flags.end(), "-g") != flags.end()) link.flags.emplace_back("-g");
    const std::string difference = LinkAndCompare(*toolkit, link, directory.File("out.cubin"));
    if (!difference.empty()) FAIL_CHECK("seed " << seed << "\n" << difference);
  }
  SUCCEED();
}

void AddPrograms() {
  for (const LinkCase& program : FindCases(DEVLINK_TEST_SOURCE "/link/cases")) {
    // One that is about a variant is compiled for that.
    const std::string target = program.archs.front() == "100a" ? "sm_100a" : std::string(kTarget);
    AddTestCase(program.name, "[mercury]", [program, target] { CheckCase(program, target); });
    if (program.name != "globals" && program.name.find("shared") == std::string::npos) continue;
    AddTestCase(Cat(program.name, " for ", kTargetWithReserved), "[mercury]",
                [program] { CheckCase(program, kTargetWithReserved); });
  }
  constexpr std::uint64_t kPrograms = 40;
  constexpr std::uint64_t kStep = 10;
  for (std::uint64_t first = 1; first <= kPrograms; first += kStep) {
    AddTestCase(Cat("random PTX ", first, " to ", first + kStep - 1), "[mercury]",
                [first] { CheckRandom(Kind::kPtx, first, first + kStep); });
  }
  AddTestCase("random CUDA", "[mercury]", [] { CheckRandom(Kind::kCuda, 1, 4); });
  AddTestCase("many programs were compared", "[mercury]", [] {
    if (!FindToolkit()) DEVLINK_SKIP("no CUDA toolkit");
    CHECK(compared >= 100);
    CHECK(finalized < compared / 2);
  });
}

const AtStart kAddPrograms(AddPrograms);

}  // namespace
}  // namespace devlink::testing
