// SPDX-License-Identifier: Apache-2.0
#include "link/lto_case.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "devlink/experimental/host_references.h"
#include "devlink/experimental/option_consensus.h"
#include "lto/xnvvm.h"
#include "random/prng.h"
#include "support/text.h"

namespace devlink::testing {
namespace {

using Texts = std::vector<std::string>;
using Lists = std::map<std::string, Texts>;

bool IsLtoIr(LtoInputKind kind) {
  return kind == LtoInputKind::kLtoir || kind == LtoInputKind::kFatbin ||
         kind == LtoInputKind::kObject || kind == LtoInputKind::kRuntimeLtoIr;
}

bool IsHostObject(LtoInputKind kind) {
  return kind == LtoInputKind::kObject || kind == LtoInputKind::kSassObject ||
         kind == LtoInputKind::kRuntime || kind == LtoInputKind::kRuntimeLtoIr ||
         kind == LtoInputKind::kRuntimeArchive;
}

bool IsRuntime(LtoInputKind kind) {
  return kind == LtoInputKind::kRuntime || kind == LtoInputKind::kRuntimeLtoIr ||
         kind == LtoInputKind::kRuntimeArchive;
}

// nvlink opens the archive only if a host object came before it.
bool IsOpened(const LtoCase& link, std::size_t input) {
  if (link.inputs[input].kind != LtoInputKind::kRuntimeArchive) return true;
  return std::any_of(link.inputs.begin(), link.inputs.begin() + static_cast<std::ptrdiff_t>(input),
                     [](const LtoInput& earlier) {
                       return IsHostObject(earlier.kind) &&
                              earlier.kind != LtoInputKind::kRuntimeArchive;
                     });
}

HostReferences ReferencesOf(const LtoInput& input) {
  HostReferences out;
  if (!input.lists.has_value()) return out;
  const std::map<std::string, HostReferences::List*> fields = {
      {"KE", &out.kernels_external},   {"KI", &out.kernels_internal},
      {"DE", &out.variables_external}, {"DI", &out.variables_internal},
      {"CE", &out.constants_external}, {"CI", &out.constants_internal}};
  for (const auto& [name, texts] : *input.lists) *fields.at(name) = {true, texts};
  return out;
}

LtoLinkShape ShapeOf(const LtoCase& link) {
  LtoLinkShape out;
  out.relocatable_link = link.relocatable;
  out.force_partial = link.force_partial;
  out.force_whole = link.force_whole;
  for (std::size_t i = 0; i < link.inputs.size(); ++i) {
    const LtoInput& input = link.inputs[i];
    if (input.kind == LtoInputKind::kRuntime || input.kind == LtoInputKind::kRuntimeArchive) {
      out.has_device_runtime |= IsOpened(link, i);
    } else if (!IsLtoIr(input.kind)) {
      out.has_other_code = true;
    }
  }
  return out;
}

// Of those that nvlink refuses before it reads an input.
bool Conflicts(const LtoCase& link) {
  return (link.use_host_info && link.ignore_host_info) ||
         (link.force_whole && (link.force_partial || link.relocatable)) ||
         (link.suppress_debug_info && !link.debug);
}

}  // namespace

Lists LtoInput::EmptyLists() {
  return {{"KE", {}}, {"KI", {}}, {"CE", {}}, {"CI", {}}, {"DE", {}}, {"DI", {}}};
}

std::vector<std::string> LtoCase::Options() const {
  Texts out = {Cat("-arch=", arch.Name()), "-lto"};
  const auto flag = [&out](bool given, const char* name) {
    if (given) out.emplace_back(name);
  };
  const auto number = [&out](std::optional<int> value, const char* name) {
    if (value.has_value()) out.push_back(Cat(name, "=", *value));
  };
  flag(debug, "-g");
  flag(suppress_debug_info, "-suppress-debug-info");
  flag(relocatable, "-r");
  flag(force_partial, "-force-partial-lto");
  flag(force_whole, "-force-whole-lto");
  flag(emit_ptx, "-emit-ptx");
  flag(use_host_info, "-use-host-info");
  flag(ignore_host_info, "-ignore-host-info");
  number(max_registers, "-maxrregcount");
  number(split_compile, "-split-compile");
  number(split_compile_extended, "-split-compile-extended");
  if (!fast_compile.empty()) out.push_back(Cat("-Ofc=", fast_compile));
  for (const std::string& value : xnvvm) out.insert(out.end(), {"-Xnvvm", value});
  for (const std::string& text : kernels_used) out.insert(out.end(), {"-kernels-used", text});
  for (const std::string& text : variables_used) out.insert(out.end(), {"-variables-used", text});
  return out;
}

std::string LtoCase::FileName(std::size_t input) const {
  const std::string stem = Cat("input", input);
  switch (inputs[input].kind) {
    case LtoInputKind::kLtoir:
      return stem + ".ltoir";
    case LtoInputKind::kFatbin:
    case LtoInputKind::kSassFatbin:
      return stem + ".fatbin";
    case LtoInputKind::kObject:
    case LtoInputKind::kSassObject:
      return stem + ".o";
    case LtoInputKind::kCubin:
      return stem + ".cubin";
    case LtoInputKind::kPtx:
      return stem + ".ptx";
    case LtoInputKind::kRuntimeArchive:
      return "libcudadevrt.a";
    case LtoInputKind::kRuntime:
    case LtoInputKind::kRuntimeLtoIr:
      break;
  }
  return "libcudadevrt.o";
}

std::string LtoCase::Describe() const {
  std::string out = Join(Options(), " ");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Append(out, " ", FileName(i));
    if (!inputs[i].options.empty()) Append(out, " {", inputs[i].options, "}");
    if (!IsHostObject(inputs[i].kind)) continue;
    out += " [";
    for (const auto& [name, texts] : inputs[i].lists.value_or(Lists{})) {
      Append(out, name, ":", Join(texts, ","), " ");
    }
    out += ']';
  }
  if (!environment.empty()) Append(out, " ", Join(environment, " "));
  return out;
}

bool LtoCase::Fails() const {
  return std::any_of(environment.begin(), environment.end(), [](const std::string& setting) {
    return setting.starts_with("RECORDING_NVVM_FAIL=");
  });
}

LtoPrediction Predict(const LtoCase& link, NvvmVectorPolicy policy) {
  LtoPrediction out;
  if (Conflicts(link) || link.Fails()) return out;
  // Other PTX is assembled first.
  const bool has_ptx =
      std::any_of(link.inputs.begin(), link.inputs.end(),
                  [](const LtoInput& input) { return input.kind == LtoInputKind::kPtx; });
  if (policy.limits_numbers && has_ptx && link.max_registers.value_or(0) > 999) return out;
  if (link.emit_ptx) {
    CiccOptionBuilder(link.arch)
        .EmitPtx(true)
        .SplitCompileExtended(link.split_compile_extended.value_or(1))
        .CheckCommandLine(out.diagnostics);
  }
  if (std::none_of(link.inputs.begin(), link.inputs.end(),
                   [](const LtoInput& input) { return IsLtoIr(input.kind); })) {
    return out;
  }
  std::optional<FastCompile> level;
  if (!link.fast_compile.empty()) {
    const auto parsed = ParseFastCompile(link.fast_compile, &out.diagnostics);
    if (!parsed.ok()) return out;
    level = *parsed;
  }
  for (const std::string& value : link.xnvvm) {
    if (!internal::CheckXnvvm(value, &out.diagnostics).ok()) return out;
  }

  CiccOptionBuilder builder(link.arch, policy);
  OptionConsensus consensus;
  for (std::size_t i = 0; i < link.inputs.size(); ++i) {
    const LtoInput& input = link.inputs[i];
    if (IsLtoIr(input.kind) && input.kind != LtoInputKind::kLtoir) {
      consensus.Vote(link.FileName(i), input.options);
    }
    if (IsHostObject(input.kind) && IsOpened(link, i)) {
      builder.AddHostReferences(ReferencesOf(input), IsRuntime(input.kind));
    }
  }
  ConsensusOverrides overrides;
  overrides.max_registers = link.max_registers.value_or(0);
  const auto agreed = consensus.Resolve(overrides, &out.diagnostics);
  if (!agreed.ok()) return out;

  builder.Agreed(*agreed)
      .Scope(ScopeOf(ShapeOf(link)))
      .Debug(link.debug && !link.suppress_debug_info)
      .EmitPtx(link.emit_ptx)
      .MaxRegisters(link.max_registers.value_or(0))
      .SplitCompile(link.split_compile.value_or(1))
      .SplitCompileExtended(link.split_compile_extended.value_or(1))
      .FastCompileLevel(level)
      .IgnoreHostInfo(link.ignore_host_info)
      .KernelsUsed(link.kernels_used)
      .VariablesUsed(link.variables_used);
  for (const std::string& value : link.xnvvm) builder.Xnvvm(value);
  auto options = builder.Build(&out.diagnostics);
  if (options.ok()) out.options = *std::move(options);
  return out;
}

// --- The tables --------------------------------------------------------------------------------

namespace {

LtoInput Ltoir() { return {LtoInputKind::kLtoir, "", LtoInput::EmptyLists()}; }
LtoInput Fatbin(std::string options) {
  return {LtoInputKind::kFatbin, std::move(options), LtoInput::EmptyLists()};
}
LtoInput Object(std::string options, Lists lists = LtoInput::EmptyLists()) {
  return {LtoInputKind::kObject, std::move(options), std::move(lists)};
}
LtoInput ObjectWithoutLists() { return {LtoInputKind::kObject, "", std::nullopt}; }
LtoInput Other(LtoInputKind kind) { return {kind, "", LtoInput::EmptyLists()}; }

class Table {
 public:
  // One case: a LTO IR file and what `change` makes of it.
  template <typename Change>
  void Add(const Change& change) {
    LtoCase link;
    link.inputs.push_back(Ltoir());
    change(link);
    cases_.push_back(std::move(link));
  }
  void AddModules(const Texts& options, const Texts& xnvvm = {}) {
    Add([&](LtoCase& link) {
      link.inputs.clear();
      for (const std::string& text : options) link.inputs.push_back(Fatbin(text));
      link.xnvvm = xnvvm;
    });
  }
  void AddInputs(std::vector<LtoInput> inputs) {
    Add([&](LtoCase& link) { link.inputs = std::move(inputs); });
  }
  std::vector<LtoCase> Take() { return std::move(cases_); }

 private:
  std::vector<LtoCase> cases_;
};

void AddTargets(Table& table) {
  for (const char* name :
       {"sm_75", "sm_80", "sm_86", "sm_87", "sm_88", "sm_89", "sm_90", "sm_90a", "sm_100",
        "sm_100a", "sm_100f", "sm_103", "sm_110", "sm_120", "sm_120a", "sm_120f", "sm_121"}) {
    table.Add([&](LtoCase& link) { link.arch = *Arch::Parse(name); });
  }
}

void AddModes(Table& table) {
  // Each of these flags alone, and each with each.
  const std::array<bool LtoCase::*, 8> flags = {&LtoCase::debug,
                                                &LtoCase::relocatable,
                                                &LtoCase::force_partial,
                                                &LtoCase::force_whole,
                                                &LtoCase::emit_ptx,
                                                &LtoCase::use_host_info,
                                                &LtoCase::ignore_host_info,
                                                &LtoCase::suppress_debug_info};
  for (std::size_t i = 0; i < flags.size(); ++i) {
    for (std::size_t k = i; k < flags.size(); ++k) {
      table.Add([&](LtoCase& link) { link.*flags[i] = link.*flags[k] = true; });
    }
  }
  for (const char* level : {"0", "min", "mid", "max", "fast", "1"}) {
    table.Add([&](LtoCase& link) { link.fast_compile = level; });
  }
}

void AddNumbers(Table& table) {
  for (const int registers : {32, 255, 999, 1, 0, -5, 1000}) {
    table.Add([&](LtoCase& link) { link.max_registers = registers; });
  }
  for (const int threads : {0, 1, 2, 999, 1000}) {
    table.Add([&](LtoCase& link) { link.split_compile = threads; });
    table.Add([&](LtoCase& link) { link.split_compile_extended = threads; });
  }
  for (const int plain : {0, 1, 3}) {
    for (const int extended : {0, 1, 2}) {
      table.Add([&](LtoCase& link) {
        link.split_compile = plain;
        link.split_compile_extended = extended;
      });
      table.Add([&](LtoCase& link) {
        link.split_compile = plain;
        link.split_compile_extended = extended;
        link.emit_ptx = true;
      });
      // The modules' number goes before that of the command line.
      table.Add([&](LtoCase& link) {
        link.inputs = {Fatbin(Cat("-split-compile ", plain))};
        link.split_compile = 2;
        link.split_compile_extended = extended;
      });
    }
  }
}

void AddXnvvm(Table& table) {
  const std::vector<Texts> values = {{"-opt=1"},
                                     {"-opt=1", "-fast-math"},
                                     {"a,b c"},
                                     {"a  b"},
                                     {" a"},
                                     {"a ,, b,"},
                                     {""},
                                     {" "},
                                     {","},
                                     {"\"\""},
                                     {"\"a b\""},
                                     {"\"a,b\""},
                                     {"'a,b'"},
                                     {"a\"b\"c"},
                                     {"a\tb"},
                                     {"a\\b"},
                                     {"a\\ b"},
                                     {"a\\,b"},
                                     {"\"a\\\"b\""},
                                     {"\"a\\\\\" b\""},
                                     {"a\\"},
                                     {"\\\\"},
                                     {"\"a"},
                                     {"\"a", "b\""},
                                     {"-link-lto"},
                                     {"-link-lto", "-compile-time"},
                                     {"-compile-time=3"},
                                     {"-has-global-host-info"},
                                     {"-g"},
                                     {"--device-c,--force-device-c"},
                                     {"-generate-line-info -inline-info"},
                                     {"-Ofast-compile=min"},
                                     {"-ftz=1"},
                                     {"-prec-div=0"},
                                     {"-prec-sqrt=0"},
                                     {"-prec-sqrt=1"},
                                     {"-prec-sqrt=0 -prec-div=0"},
                                     {"-fma=0"},
                                     {"-fmad=0"},
                                     {"-ftz"},
                                     {"--ftz=1"},
                                     {"-ftz=1", "-ftz=0"},
                                     {"-prec-div=0 -fma=0 -ftz=1"},
                                     {"-arch=compute_80"},
                                     {"-maxreg=5"},
                                     {"-host-ref-ek=k"},
                                     {"-Xopt,-unroll-count=4"},
                                     {"-split-compile=2"}};
  for (const Texts& value : values) {
    table.Add([&](LtoCase& link) { link.xnvvm = value; });
  }
  // What nvlink passes itself, in a link where it does.
  for (const char* value :
       {"-g", "--device-c", "--force-device-c", "-has-global-host-info", "-generate-line-info",
        "-inline-info", "-Ofast-compile=max", "-maxreg=8", "-Ofast-compile"}) {
    table.Add([&](LtoCase& link) {
      link.xnvvm = {value, "-opt=2"};
      link.relocatable = link.debug = true;
      link.inputs = {Fatbin("-generate-line-info -inline-info -maxreg 64")};
      link.fast_compile = "0";
    });
  }
}

void AddConsensus(Table& table) {
  const Texts absent = {""};
  for (const char* stem :
       {"-ftz=", "-prec_div=", "-prec_sqrt=", "-fmad=", "-maxreg ", "-split-compile "}) {
    const std::string zero = Cat(stem, 0);
    const std::string one = Cat(stem, 1);
    const std::string two = Cat(stem, 2);
    for (const Texts& modules : std::vector<Texts>{{zero},
                                                   {one},
                                                   {two},
                                                   {one, one},
                                                   {one, ""},
                                                   {"", one},
                                                   {"", "", one, ""},
                                                   {zero, "", zero},
                                                   {zero, one},
                                                   {two, "", one},
                                                   {"", one, two}}) {
      table.AddModules(modules, {"-link-lto"});
    }
  }
  for (const char* flag : {"-generate-line-info", "-inline-info"}) {
    for (const Texts& modules :
         std::vector<Texts>{{flag}, {flag, flag}, {flag, ""}, {"", flag}, {"", flag, flag}}) {
      table.AddModules(modules);
    }
  }
  // How a text is read.
  for (const char* text : {"-ftz=true",
                           "-ftz=0x1",
                           "-ftz= 1",
                           "-ftz=7",
                           "-ftz=-1",
                           "-ftz=4294967297",
                           "-ftz=99999999999999999999",
                           "-ftz",
                           "foo-ftz=1",
                           "-ftz=0 -ftz=1",
                           "-prec-div=0",
                           "-fma=0",
                           "-maxreg 32abc",
                           "-maxreg=32",
                           "-maxreg",
                           "-maxreg  +40",
                           "-maxreg 040",
                           "-maxreg -3",
                           "-split-compile=3",
                           "-split-compile x",
                           "-split-compile-extended 4",
                           "x-generate-line-infox",
                           "-lineinfo",
                           "-g -Ofast-compile=max"}) {
    table.AddModules({text}, {"-link-lto"});
  }
  // Several at a time, and against the command line.
  const Texts two_conflicts = {"-ftz=0 -fmad=1 -maxreg 32", "-ftz=1 -fmad=0 -maxreg 64"};
  const Texts mixed = {"-generate-line-info -maxreg 32 -inline-info", "-split-compile 4"};
  table.AddModules(two_conflicts);
  table.AddModules(mixed);
  table.Add([&](LtoCase& link) {
    link.inputs = {Fatbin(two_conflicts[0]), Fatbin(two_conflicts[1])};
    link.max_registers = 40;
  });
  for (const int registers : {40, 0, -1}) {
    table.Add([&](LtoCase& link) {
      link.inputs = {Fatbin(mixed[0]), Ltoir(), Fatbin(mixed[1])};
      link.max_registers = registers;
      link.split_compile = 2;
    });
  }
  table.AddInputs({Fatbin("-ftz=1 -maxreg 32 -generate-line-info"), Ltoir()});
  table.Add([&](LtoCase& link) {
    link.inputs = {Fatbin("-ftz=0"), Fatbin("-ftz=1")};
    link.xnvvm = {"-ftz=1"};
  });
}

void AddHostReferences(Table& table) {
  const LtoInput runtime = Other(LtoInputKind::kRuntimeArchive);
  const Lists first = {{"KE", {"k0", "k1", "k2"}},
                       {"KI", {"i0"}},
                       {"CE", {"c0"}},
                       {"CI", {"c1"}},
                       {"DE", {"d0"}},
                       {"DI", {"d1"}}};
  Lists second = LtoInput::EmptyLists();
  second["KE"] = {"k1", "k3", "k1"};
  second["DE"] = {"d2", "d0"};
  const LtoInput a = Object("", first);
  const LtoInput b = Object("", second);
  table.AddInputs({a, runtime});
  table.AddInputs({a, b, runtime});
  table.AddInputs({b, a, runtime});
  table.AddInputs({a, Ltoir(), b, Fatbin(""), runtime});
  table.AddInputs({a, ObjectWithoutLists(), b, runtime});
  table.AddInputs({Object("", {{"KE", {"", ""}}}), runtime});
  table.AddInputs({Object("", {{"KE", {"x", "", "y"}}, {"DE", {}}}), runtime});
  // Objects with some of the sections.
  const std::vector<Texts> parts = {{"KE"},       {"KI"},       {"DE"},
                                    {"KE", "DE"}, {"KE", "KI"}, {"KI", "CE", "CI", "DE", "DI"}};
  for (const Texts& names : parts) {
    Lists lists;
    for (const std::string& name : names) lists[name] = {name + "x"};
    table.AddInputs({Object("", lists), runtime});
    table.AddInputs({Object("", lists), a, runtime});
    table.AddInputs({a, Object("", lists), runtime});
    table.AddInputs({Object("", lists), ObjectWithoutLists(), runtime});
    table.AddInputs({ObjectWithoutLists(), Object("", lists), runtime});
  }
  // Names of one kind, with and without what libcudadevrt adds.
  for (const char* name : {"KE", "KI", "CE", "CI", "DE", "DI"}) {
    Lists lists = LtoInput::EmptyLists();
    lists[name] = {"n"};
    LtoInput speaking = runtime;
    speaking.kind = LtoInputKind::kRuntime;
    speaking.lists = first;
    LtoInput silent = runtime;
    silent.lists = std::nullopt;
    table.AddInputs({Object("", lists), speaking});
    table.AddInputs({Object("", lists), Fatbin(""), runtime});
    table.AddInputs({speaking, Object("", lists)});
    table.AddInputs({Object("", lists), silent});
    lists.erase("DE");
    speaking.lists = lists;
    table.AddInputs({a, speaking});
    table.AddInputs({Fatbin(""), speaking});
    speaking.kind = LtoInputKind::kRuntimeArchive;
    table.AddInputs({a, speaking});
    table.AddInputs({Fatbin(""), speaking});
    table.AddInputs({a, b, Ltoir(), speaking});
  }
  // Names from the command line.
  const std::vector<std::pair<Texts, Texts>> names = {
      {{"k"}, {}},        {{}, {"v"}},     {{"k", "j", "k"}, {"v", "w"}},
      {{""}, {}},         {{"a*b"}, {""}}, {{"", "k"}, {}},
      {{"c d"}, {"e\\f"}}};
  for (const char* text : {"j*", "*j", "*", "**", "***j", "j**"}) {
    table.Add([&](LtoCase& link) { link.kernels_used = {text, "j"}; });
  }
  for (const auto& [kernels, variables] : names) {
    for (const int mode : {0, 1, 2, 3}) {
      table.Add([&](LtoCase& link) {
        link.inputs = {a, runtime};
        link.kernels_used = kernels;
        link.variables_used = variables;
        link.use_host_info = mode == 1;
        link.ignore_host_info = mode == 2;
        link.relocatable = mode == 3;
      });
    }
  }
  table.Add([&](LtoCase& link) {
    link.inputs = {a, runtime};
    link.ignore_host_info = true;
  });
}

void AddMixes(Table& table) {
  using enum LtoInputKind;
  for (const LtoInputKind kind : {kSassObject, kSassFatbin, kCubin, kPtx, kRuntime, kRuntimeLtoIr,
                                  kRuntimeArchive, kObject}) {
    for (const LtoInputKind lto : {kLtoir, kFatbin, kObject}) {
      table.AddInputs({Other(lto), Other(kind)});
      table.AddInputs({Other(kind), Other(lto)});
    }
    table.AddInputs({Other(kind)});
    table.Add([&](LtoCase& link) {
      link.inputs = {Object(""), Other(kind)};
      link.force_whole = true;
    });
    table.Add([&](LtoCase& link) {
      link.inputs = {Object(""), Other(kind)};
      link.relocatable = true;
    });
  }
  table.AddInputs(
      {Object("-ftz=1"), Other(kSassObject), Fatbin("-maxreg 32"), Other(kRuntimeArchive)});
  // What is assembled besides gets the same options.
  for (const int registers : {40, 1000}) {
    table.Add([&](LtoCase& link) {
      link.inputs = {Object(""), Other(kPtx)};
      link.max_registers = registers;
      link.fast_compile = "max";
      link.split_compile = 2;
    });
  }
  // What libNVVM says of the result.
  for (const char* code : {"0", "100", "7"}) {
    for (const std::vector<LtoInput>& inputs : std::vector<std::vector<LtoInput>>{
             {Ltoir()}, {Object(""), Other(kRuntime)}, {Object(""), Other(kSassObject)}}) {
      table.Add([&](LtoCase& link) {
        link.inputs = inputs;
        link.environment = {Cat("RECORDING_NVVM_RC=", code)};
      });
      table.Add([&](LtoCase& link) {
        link.inputs = inputs;
        link.environment = {Cat("RECORDING_NVVM_RC=", code)};
        link.force_whole = true;
      });
    }
  }
  for (const char* fails : {"nvvmCreateProgram", "add", "0x2080", "0xB0BA", "0xF00D"}) {
    table.Add([&](LtoCase& link) { link.environment = {Cat("RECORDING_NVVM_FAIL=", fails)}; });
  }
  table.Add([](LtoCase& link) { link.environment = {"RECORDING_NVVM_LOG=remark: inlined"}; });
  table.Add([](LtoCase& link) {
    link.environment = {"RECORDING_NVVM_LOG=error: bad", "RECORDING_NVVM_RC=9"};
  });
  table.Add([](LtoCase& link) {
    link.environment = {"RECORDING_NVVM_PIECES=3"};
    link.split_compile_extended = 2;
  });
}

}  // namespace

std::vector<LtoCase> TableOfLtoCases() {
  Table table;
  AddTargets(table);
  AddModes(table);
  AddNumbers(table);
  AddXnvvm(table);
  AddConsensus(table);
  AddHostReferences(table);
  AddMixes(table);
  return table.Take();
}

// --- Random cases ------------------------------------------------------------------------------

namespace {

std::string RandomMemberOptions(Prng& prng) {
  std::string out;
  const auto maybe = [&](int percent, const std::string& text) {
    if (prng.Chance(percent)) Append(out, text, " ");
  };
  // Mostly one value, so that most programs do not end in a conflict.
  const auto bit = [&](int usual) { return prng.Chance(95) ? usual : 1 - usual; };
  maybe(30, Cat("-ftz=", bit(1)));
  maybe(30, Cat("-prec_div=", bit(0)));
  maybe(30, Cat("-prec_sqrt=", bit(0)));
  maybe(30, Cat("-fmad=", bit(0)));
  maybe(25, Cat("-maxreg ", prng.Chance(95) ? 64 : 32));
  maybe(20, Cat("-split-compile ", prng.Chance(95) ? 3 : 4));
  maybe(25, "-generate-line-info");
  maybe(20, "-inline-info");
  return out;
}

std::optional<Lists> RandomLists(Prng& prng) {
  if (prng.Chance(5)) return std::nullopt;
  Lists out = LtoInput::EmptyLists();
  for (auto& [name, texts] : out) {
    for (int count = prng.Range(0, 3); count > 0; --count) {
      texts.push_back(Cat(name, prng.Range(0, 4), prng.Chance(30) ? "*" : ""));
    }
  }
  if (prng.Chance(10)) out.erase(prng.Pick<const char*>({"KE", "KI", "CE", "CI", "DE", "DI"}));
  return out;
}

LtoInput RandomInput(Prng& prng) {
  using enum LtoInputKind;
  LtoInput out;
  out.kind = prng.Pick({kLtoir, kFatbin, kFatbin, kObject, kObject, kObject});
  if (prng.Chance(6)) out.kind = prng.Pick({kSassObject, kSassFatbin, kCubin, kPtx});
  if (out.kind == kFatbin || out.kind == kObject) out.options = RandomMemberOptions(prng);
  if (IsHostObject(out.kind)) out.lists = RandomLists(prng);
  return out;
}

LtoCase RandomLtoCase(Prng& prng) {
  LtoCase out;
  out.arch = *Arch::Parse(prng.Pick<const char*>({"sm_75", "sm_80", "sm_89", "sm_90", "sm_90a"}));
  for (int count = prng.Range(1, 4); count > 0; --count) {
    out.inputs.push_back(RandomInput(prng));
    // Below sm_90 nvlink loses .ptx files (docs/compatibility.md).
    LtoInputKind& kind = out.inputs.back().kind;
    if (kind == LtoInputKind::kPtx && out.arch.number < 90) kind = LtoInputKind::kCubin;
  }
  // Without it a link of host objects ends with a complaint after all is done.
  if (prng.Chance(70)) {
    LtoInput runtime;
    runtime.kind = prng.Pick({LtoInputKind::kRuntimeArchive, LtoInputKind::kRuntimeArchive,
                              LtoInputKind::kRuntime, LtoInputKind::kRuntimeLtoIr});
    runtime.lists = RandomLists(prng);
    out.inputs.push_back(std::move(runtime));
  }
  out.debug = prng.Chance(10);
  out.relocatable = prng.Chance(10);
  out.force_partial = prng.Chance(5);
  out.force_whole = prng.Chance(5);
  out.emit_ptx = prng.Chance(15);
  out.use_host_info = prng.Chance(10);
  out.ignore_host_info = prng.Chance(5);
  if (prng.Chance(20)) out.max_registers = prng.Pick({32, 80, 255, 0});
  if (prng.Chance(20)) out.split_compile = prng.Pick({0, 1, 2, 4});
  if (prng.Chance(15)) out.split_compile_extended = prng.Pick({0, 1, 2, 4});
  if (prng.Chance(20)) out.fast_compile = prng.Pick<const char*>({"0", "min", "mid", "max"});
  while (prng.Chance(35)) {
    out.xnvvm.emplace_back(prng.Pick<const char*>(
        {"-opt=1", "-fast-math", "-link-lto", "-g", "--device-c", "-ftz=1", "-prec-div=0",
         "-prec-sqrt=1", "-fma=0", "-ftz=1,-fma=1", "\"-opt=2 -x\"", "-Ofast-compile=min",
         "-inline-info", "-generate-line-info -opt=0", "-Xopt,-unroll-count=4", ""}));
  }
  while (prng.Chance(12)) out.kernels_used.emplace_back(prng.Pick<const char*>({"k", "KE1", "j*"}));
  while (prng.Chance(10)) out.variables_used.emplace_back(prng.Pick<const char*>({"v", "DE1"}));
  return out;
}

}  // namespace

std::vector<LtoCase> RandomLtoCases(std::uint64_t seed, std::size_t count) {
  Prng prng(seed);
  std::vector<LtoCase> out;
  out.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    Prng own = prng.Fork();
    out.push_back(RandomLtoCase(own));
  }
  return out;
}

}  // namespace devlink::testing
