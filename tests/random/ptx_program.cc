// SPDX-License-Identifier: Apache-2.0
#include "random/ptx_program.h"

#include <algorithm>
#include <cstddef>

#include "random/prng.h"
#include "random/ptx_function.h"
#include "random/ptx_plan.h"
#include "support/text.h"

namespace devlink::testing {
namespace {

using Kind = PtxFunction::Kind;
using Space = PtxVariable::Space;
using Linkage = PtxVariable::Linkage;
using Init = PtxVariable::Init;

std::string_view ElementType(int bytes) {
  return bytes == 1 ? ".b8" : bytes == 2 ? ".b16" : bytes == 4 ? ".b32" : ".b64";
}

// ptxas takes addresses as initial values of unsigned types only.
std::string_view ElementType(const PtxVariable& v) {
  if (v.init == Init::kMasked) return ".u8";
  const bool has_addresses = v.init != Init::kNone && v.init != Init::kNumbers;
  return has_addresses ? ".u64" : ElementType(v.element_bytes);
}

std::string_view SpaceName(Space space) {
  switch (space) {
    case Space::kConst:
      return ".const";
    case Space::kShared:
    case Space::kExternShared:
      return ".shared";
    default:
      return ".global";
  }
}

// Writes one file of a program.
class FileWriter {
 public:
  FileWriter(const PtxPlan& plan, int file, Prng random)
      : plan_(plan), file_(file), random_(random) {}

  std::string Write() {
    std::vector<std::string> bodies;
    for (std::size_t i = 0; i < plan_.functions.size(); ++i) {
      const PtxFunction& f = plan_.functions[i];
      if (!f.DefinedIn(file_)) continue;
      if (f.kind == Kind::kAlias) {
        uses_.functions.insert(i);
        uses_.functions.insert(f.alias_of);
        bodies.emplace_back();
        aliases_ += Cat(".alias ", f.name, ", ", plan_.functions[f.alias_of].name, ";\n");
      } else {
        bodies.push_back(PtxFunctionWriter(plan_, i, file_, uses_).Write());
      }
    }
    random_.Shuffle(bodies);
    const std::string variables = Variables() + EntryPointers();
    std::string out = Cat(".version 9.0\n.target sm_", plan_.target.number,
                          std::string(plan_.target.variant == 0 ? 0 : 1, plan_.target.variant),
                          "\n.address_size 64\n");
    if (plan_.line_info) Append(out, ".file 1 \"file", file_, ".cu\"\n");
    Append(out, Syscalls(), Declarations(), variables, Join(bodies, ""), aliases_);
    return out;
  }

 private:
  [[nodiscard]] std::string Syscalls() const {
    std::string out;
    for (const std::string& name : uses_.syscalls) {
      if (name == "vprintf") {
        out += ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n";
      } else if (name == "malloc") {
        out += ".extern .func (.param .b64 r) malloc (.param .b64 a);\n";
      } else if (name == "free") {
        out += ".extern .func free (.param .b64 a);\n";
      } else {
        out +=
            ".extern .func __assertfail (.param .b64 a, .param .b64 b, .param .b32 c, "
            ".param .b64 d, .param .b64 e);\n";
      }
    }
    if (uses_.format_string) out += ".global .align 1 .b8 $str[4] = {37, 100, 10};\n";
    return out;
  }

  std::string Declarations() {
    std::vector<std::string> lines;
    for (const std::size_t i : uses_.functions) {
      const PtxFunction& f = plan_.functions[i];
      if (f.IsEntry()) {  // to which a variable points
        lines.push_back(PtxEntrySignature(f, file_) + ";\n");
        continue;
      }
      std::string_view linkage = ".extern ";
      if (f.DefinedIn(file_)) {
        linkage = f.kind == Kind::kStatic                           ? ""
                  : f.kind == Kind::kWeak && f.strong_file != file_ ? ".weak "
                                                                    : ".visible ";
      }
      lines.push_back(
          Cat(linkage, ".func ", PtxSignature(PtxPrototypes()[f.prototype], f.name), ";\n"));
    }
    random_.Shuffle(lines);
    return Join(lines, "");
  }

  std::string Variables() {
    std::string out;
    for (std::size_t i = 0; i < plan_.variables.size(); ++i) {
      const PtxVariable& v = plan_.variables[i];
      if (v.space == Space::kExternShared || !v.DefinedIn(file_)) continue;
      out += Definition(i);
    }
    std::string declarations;
    for (const std::size_t i : uses_.variables) {
      const PtxVariable& v = plan_.variables[i];
      if (v.space != Space::kExternShared && v.DefinedIn(file_)) continue;
      declarations += Declaration(v);
    }
    return declarations + out;
  }

  // A variable that points to some of the file's entries.
  std::string EntryPointers() {
    if (plan_.entry_pointers == 0) return {};
    Prng random(plan_.entry_pointers + static_cast<std::uint64_t>(file_));
    std::vector<std::string> names;
    for (std::size_t i = 0; i < plan_.functions.size(); ++i) {
      const PtxFunction& f = plan_.functions[i];
      if (!f.IsEntry() || !f.DefinedIn(file_) || !random.Chance(30)) continue;
      uses_.functions.insert(i);
      names.push_back(f.name);
    }
    if (names.empty()) return {};
    return Cat(".visible .global .align 8 .u64 entries", file_, "[", names.size(), "] = {",
               Join(names, ", "), "};\n");
  }

  std::string Declaration(const PtxVariable& v) {
    if (v.space == Space::kTexture) return Cat(".extern .global .texref ", v.name, ";\n");
    if (v.space == Space::kSurface) return Cat(".extern .global .surfref ", v.name, ";\n");
    const bool unsized =
        v.space == Space::kExternShared || (v.space == Space::kGlobal && random_.Chance(20));
    return Cat(".extern ", SpaceName(v.space), v.managed ? " .attribute(.managed)" : "", " .align ",
               v.align, " ", ElementType(v), " ", v.name, "[",
               unsized ? "" : std::to_string(v.count), "];\n");
  }

  std::string Definition(std::size_t index) {
    const PtxVariable& v = plan_.variables[index];
    std::string_view linkage = v.linkage == Linkage::kVisible  ? ".visible "
                               : v.linkage == Linkage::kWeak   ? ".weak "
                               : v.linkage == Linkage::kCommon ? ".common "
                                                               : "";
    if (v.space == Space::kTexture) return Cat(linkage, ".global .texref ", v.name, ";\n");
    if (v.space == Space::kSurface) return Cat(linkage, ".global .surfref ", v.name, ";\n");
    std::string out = Cat(linkage, SpaceName(v.space), v.managed ? " .attribute(.managed)" : "",
                          " .align ", v.align, " ", ElementType(v), " ", v.name, "[", v.count, "]");
    if (v.init != Init::kNone) Append(out, " = {", Values(index), "}");
    return out + ";\n";
  }

  std::string Values(std::size_t index) {
    const PtxVariable& v = plan_.variables[index];
    const std::vector<std::string> names = Pointees(index);
    std::vector<std::string> values;
    const int given = random_.Chance(70) ? v.count : random_.Range(1, v.count);
    const std::string masked = names.empty() ? "" : names[random_.Below(names.size())];
    for (int i = 0; i < given; ++i) {
      if (v.init == Init::kMasked && !masked.empty()) {
        values.push_back(
            Cat("0xff", std::string(static_cast<std::size_t>(2 * i), '0'), "(", masked, ")"));
      } else if (v.init == Init::kNumbers || v.init == Init::kMasked || names.empty() ||
                 random_.Chance(20)) {
        values.push_back(std::to_string(random_.Range(0, 120)));
      } else {
        values.push_back(names[random_.Below(names.size())]);
      }
    }
    return Join(values, ", ");
  }

  // What a variable's initialiser may point to, as it is written there.
  std::vector<std::string> Pointees(std::size_t index) {
    const PtxVariable& v = plan_.variables[index];
    std::vector<std::string> names;
    if (v.init == Init::kFunctions || (v.init == Init::kMasked && random_.Chance(40))) {
      for (std::size_t i = 0; i < plan_.functions.size(); ++i) {
        const PtxFunction& f = plan_.functions[i];
        const bool nameable = f.kind != Kind::kStatic || f.DefinedIn(file_);
        if (f.IsEntry() || !nameable || !random_.Chance(30)) continue;
        uses_.functions.insert(i);
        names.push_back(f.name);
      }
      return names;
    }
    if (v.init == Init::kNumbers) return names;
    for (std::size_t i = 0; i < index; ++i) {
      const PtxVariable& target = plan_.variables[i];
      const bool nameable = target.linkage != Linkage::kStatic || target.DefinedIn(file_);
      const bool is_data = target.space == Space::kGlobal || target.space == Space::kConst;
      if (!nameable || !is_data || !random_.Chance(50)) continue;
      uses_.variables.insert(i);
      const int offset = random_.Chance(30) ? random_.Range(1, 64) : 0;
      std::string text =
          v.init == Init::kGenericVariables ? Cat("generic(", target.name, ")") : target.name;
      if (offset != 0 && v.init != Init::kMasked) Append(text, "+", offset);
      names.push_back(std::move(text));
    }
    return names;
  }

  const PtxPlan& plan_;
  int file_;
  Prng random_;
  PtxUses uses_;
  std::string aliases_;
};

// Some PTX was written for an older target than it is assembled for: libraries carry such, and
// ptxas makes other code of it, and lays out constants in another order.
ProgramTarget WrittenFor(std::uint64_t seed, ProgramTarget target) {
  Prng of_target(seed ^ 0x6f6c646572ULL);
  if (!of_target.Chance(15)) return target;
  const int number = of_target.Pick<int>({75, 80, 86, 90});
  return number < target.number ? ProgramTarget{.number = number, .variant = 0} : target;
}

}  // namespace

RandomProgram MakePtxProgram(std::uint64_t seed, ProgramTarget target,
                             const GeneratorLimits& limits) {
  Prng random(seed);
  PtxPlan plan = MakePtxPlan(random, WrittenFor(seed, target), limits);
  RandomProgram program;
  std::string_view debug_flag;
  if (plan.Has(kDebugInfo)) {
    plan.line_info = random.Chance(25);
    if (plan.line_info) debug_flag = random.Pick<std::string_view>({"-lineinfo", "-g", ""});
    if (random.Chance(10)) program.link_flags.emplace_back("-g");
  }
  // Decided apart, so that what a seed made before there was this option it still makes.
  Prng of_entries(~seed ^ 0x656e7472696573ULL);
  if (of_entries.Chance(15)) plan.entry_pointers = of_entries.Next() | 1;
  for (int f = 0; f < plan.files; ++f) {
    SourceFile source;
    source.name = Cat("f", f, ".ptx");
    source.text = FileWriter(plan, f, random.Fork()).Write();
    if (!debug_flag.empty() && random.Chance(80)) source.flags.emplace_back(debug_flag);
    program.files.push_back(std::move(source));
  }
  random.Shuffle(program.files);
  Prng of_code(~seed);  // apart, too
  const bool has_independent_code = plan.Has(kIndependentCode) && of_code.Chance(8);
  for (SourceFile& source : program.files) {
    if (has_independent_code && of_code.Chance(75)) source.flags.emplace_back("-pic=true");
  }
  return program;
}

}  // namespace devlink::testing
