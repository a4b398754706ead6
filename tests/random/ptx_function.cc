// SPDX-License-Identifier: Apache-2.0
#include "random/ptx_function.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "support/text.h"

namespace devlink::testing {
namespace {

using Kind = PtxFunction::Kind;
using Space = PtxVariable::Space;

std::string ParameterType(char letter) {
  switch (letter) {
    case 'i':
      return ".b32";
    case 'l':
      return ".b64";
    case 'f':
      return ".f32";
    case 'd':
      return ".f64";
    default:
      return ".align 8 .b8";
  }
}

std::string Parameter(char letter, std::string_view name) {
  return Cat(".param ", ParameterType(letter), " ", name, letter == 's' ? "[16]" : "");
}

// Registers: x is what the function computes; the others hold something between two statements only
// by accident. All parameter types have a register: x, a, f, d.
constexpr std::string_view kRegisters =
    " .reg .b32 x, y, z; .reg .b64 a, b, c; .reg .f32 f, g; .reg .f64 d, e; .reg .pred p;\n";

}  // namespace

std::string PtxSignature(const PtxPrototype& prototype, std::string_view name) {
  std::string out;
  if (prototype.result != 'v') Append(out, "(", Parameter(prototype.result, "r"), ") ");
  Append(out, name, " (");
  for (std::size_t i = 0; i < prototype.arguments.size(); ++i) {
    Append(out, i == 0 ? "" : ", ", Parameter(prototype.arguments[i], Cat("a", i)));
  }
  return out + ")";
}

PtxFunctionWriter::PtxFunctionWriter(const PtxPlan& plan, std::size_t function, int file,
                                     PtxUses& uses)
    : plan_(plan),
      function_(plan.functions[function]),
      index_(function),
      file_(file),
      uses_(uses),
      random_(function_.body_seed +
              (function_.equal_bodies ? 0 : static_cast<std::uint64_t>(file) * 77)) {}

std::string PtxFunctionWriter::Write() {
  EmitHead();
  const int count = random_.Range(0, plan_.limits.max_statements);
  for (int i = 0; i < count; ++i) {
    if (plan_.line_info) Append(text_, " .loc 1 ", index_ * 10 + 1 + label_, " ", i, "\n");
    EmitStatement();
  }
  EmitEnd();
  return std::move(text_);
}

const std::vector<PtxFunctionWriter::Statement>& PtxFunctionWriter::Statements() {
  using W = PtxFunctionWriter;
  static const std::vector<Statement> kStatements = {
      {0, 10, 0, &W::Arithmetic},
      {0, 55, 0, &W::DirectCall},
      {kRecursion, 1, 0, &W::RecursiveCall},
      {kIndirect, 9, 0, &W::IndirectCall},
      {kIndirect | kPointers, 6, 0, &W::TableCall},
      {kIndirect, 4, 0, &W::TakeAddress},
      {kSyscalls, 6, 0, &W::Printf},
      {kSyscalls, 4, 0, &W::Heap},
      {kSyscalls, 3, 0, &W::Assert},
      {kGlobals, 20, 0, &W::GlobalAccess},
      {kConstants, 10, 0, &W::ConstAccess},
      {kShared, 22, 0, &W::SharedAccess},
      {kShared, 10, 0, &W::LocalShared},
      {kExternShared, 6, 0, &W::DynamicShared},
      {kFrames, 8, 0, &W::Frame},
      {kFrames, 2, 0, &W::Alloca},
      {0, 4, 0, &W::ParameterAccess},
      {kDoubles, 8, 0, &W::DoubleConstants},
      {kDoubles, 4, 0, &W::SlowPath},
      {kJumpTables, 5, 0, &W::JumpTable},
      {kPressure, 5, 0, &W::Pressure},
      {kLoops, 5, 0, &W::Loop},
      {kBarriers, 8, 0, &W::Barrier},
      {kSpecials, 3, 0, &W::GridZ},
      {kTextures, 4, 0, &W::Texture},
      {kReferences, 4, 0, &W::Texture},
      {kAsync, 4, 80, &W::AsyncCopy},
      {kAsync, 3, 80, &W::MemoryBarrier},
      {kAsync, 3, 90, &W::BulkCopy},
      {kClusters, 4, 90, &W::Cluster},
      {kSpecials, 4, 0, &W::Warp},
      {kSpecials, 4, 0, &W::Atomics},
      {kSpecials, 3, 0, &W::Fences},
      {kSpecials, 3, 0, &W::SpecialRegisters},
      {kSpecials, 3, 90, &W::ArchSpecific},
  };
  return kStatements;
}

void PtxFunctionWriter::EmitStatement() {
  const auto allowed = [this](const Statement& s) {
    return (s.feature & plan_.limits.features) == s.feature && plan_.target.number >= s.min_arch;
  };
  int total = 0;
  for (const Statement& s : Statements()) total += allowed(s) ? s.weight : 0;
  int left = static_cast<int>(random_.Below(static_cast<std::size_t>(total)));
  for (const Statement& s : Statements()) {
    if (!allowed(s)) continue;
    left -= s.weight;
    if (left < 0) {
      (this->*s.emit)();
      return;
    }
  }
}

std::string PtxEntrySignature(const PtxFunction& function, int file) {
  const bool is_weak = function.kind == Kind::kWeakEntry && function.strong_file != file;
  std::string out = Cat(is_weak ? ".weak" : ".visible", " .entry ", function.name,
                        " (.param .u64 a0, .param .u64 a1");
  if (function.parameter_bytes != 0) {
    Append(out, ", .param .align 8 .b8 a2[", function.parameter_bytes, "]");
  }
  return out + ")";
}

void PtxFunctionWriter::EmitHead() {
  if (IsEntry()) {
    Append(text_, PtxEntrySignature(function_, file_), function_.directives, "\n{\n", kRegisters,
           " ld.param.u64 a, [a0]; cvta.to.global.u64 a, a; ld.global.u32 x, [a];\n");
    return;
  }
  const PtxPrototype& prototype = PtxPrototypes()[function_.prototype];
  const bool is_weak = function_.kind == Kind::kWeak && function_.strong_file != file_;
  Append(text_,
         function_.kind == Kind::kStatic ? ""
         : is_weak                       ? ".weak "
                                         : ".visible ",
         ".func ", PtxSignature(prototype, function_.name), "\n{\n", kRegisters, " mov.u32 x, ",
         index_ + 3, ";\n");
  for (std::size_t i = 0; i < prototype.arguments.size(); ++i) {
    const std::string name = Cat("a", i);
    switch (prototype.arguments[i]) {
      case 'i':
        Append(text_, " ld.param.b32 y, [", name, "]; add.s32 x, x, y;\n");
        break;
      case 'l':
        Append(text_, " ld.param.b64 a, [", name, "]; cvt.u32.u64 y, a; xor.b32 x, x, y;\n");
        break;
      case 'f':
        Append(text_, " ld.param.f32 f, [", name, "]; cvt.rzi.s32.f32 y, f; add.s32 x, x, y;\n");
        break;
      case 'd':
        Append(text_, " ld.param.f64 d, [", name, "]; cvt.rzi.s32.f64 y, d; add.s32 x, x, y;\n");
        break;
      default:
        Append(text_, " ld.param.b32 y, [", name, "+4]; add.s32 x, x, y;\n");
        break;
    }
  }
}

void PtxFunctionWriter::EmitEnd() {
  if (IsEntry()) {
    text_ += " ld.param.u64 a, [a0]; cvta.to.global.u64 a, a; st.global.u32 [a], x; ret;\n}\n";
    return;
  }
  switch (PtxPrototypes()[function_.prototype].result) {
    case 'v':
      // Something must need x, or the body is gone.
      text_ += " cvt.u64.u32 a, x; st.global.u32 [a], x; ret;\n}\n";
      break;
    case 'i':
      text_ += " st.param.b32 [r], x; ret;\n}\n";
      break;
    case 'l':
      text_ += " cvt.s64.s32 a, x; st.param.b64 [r], a; ret;\n}\n";
      break;
    case 'f':
      text_ += " cvt.rn.f32.s32 f, x; st.param.f32 [r], f; ret;\n}\n";
      break;
    case 'd':
      text_ += " cvt.rn.f64.s32 d, x; st.param.f64 [r], d; ret;\n}\n";
      break;
    default:
      text_ += " st.param.b32 [r], x; st.param.b32 [r+4], x; ret;\n}\n";
      break;
  }
}

std::vector<std::size_t> PtxFunctionWriter::Callees(bool any_number) const {
  std::vector<std::size_t> out;
  for (std::size_t i = any_number ? 0 : index_ + 1; i < plan_.functions.size(); ++i) {
    const PtxFunction& f = plan_.functions[i];
    if (f.IsEntry() || (f.kind == Kind::kStatic && !f.DefinedIn(file_))) continue;
    // An alias stands behind the functions, so its number says nothing about cycles.
    if (f.kind == Kind::kAlias && f.alias_of <= index_) continue;
    out.push_back(i);
  }
  return out;
}

std::vector<std::size_t> PtxFunctionWriter::Variables(PtxVariable::Space space) const {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < plan_.variables.size(); ++i) {
    const PtxVariable& v = plan_.variables[i];
    if (v.space != space) continue;
    if (v.linkage == PtxVariable::Linkage::kStatic && !v.DefinedIn(file_)) continue;
    out.push_back(i);
  }
  return out;
}

void PtxFunctionWriter::EmitCall(std::string_view target, const PtxPrototype& prototype,
                                 bool indirect) {
  std::string head;
  std::string names;
  for (std::size_t i = 0; i < prototype.arguments.size(); ++i) {
    const std::string name = Cat("i", i);
    Append(head, " ", Parameter(prototype.arguments[i], name), ";");
    Append(names, i == 0 ? "" : ", ", name);
    switch (prototype.arguments[i]) {
      case 'i':
        Append(head, " st.param.b32 [", name, "], x;");
        break;
      case 'l':
        Append(head, " cvt.s64.s32 b, x; st.param.b64 [", name, "], b;");
        break;
      case 'f':
        Append(head, " cvt.rn.f32.s32 f, x; st.param.f32 [", name, "], f;");
        break;
      case 'd':
        Append(head, " cvt.rn.f64.s32 d, x; st.param.f64 [", name, "], d;");
        break;
      default:
        Append(head, " st.param.b32 [", name, "], x; st.param.b32 [", name, "+4], x;");
        break;
    }
  }
  std::string result;
  std::string use;
  switch (prototype.result) {
    case 'v':
      break;
    case 'i':
    case 's':
      use = " ld.param.b32 y, [o]; add.s32 x, x, y;";
      break;
    case 'l':
      use = " ld.param.b64 b, [o]; cvt.u32.u64 y, b; xor.b32 x, x, y;";
      break;
    case 'f':
      use = " ld.param.f32 f, [o]; cvt.rzi.s32.f32 y, f; add.s32 x, x, y;";
      break;
    default:
      use = " ld.param.f64 d, [o]; cvt.rzi.s32.f64 y, d; add.s32 x, x, y;";
      break;
  }
  if (prototype.result != 'v') {
    Append(head, " ", Parameter(prototype.result, "o"), ";");
    result = "(o), ";
  }
  if (indirect) {
    const std::string label = Label();
    std::string types = " " + label + ": .callprototype ";
    if (prototype.result != 'v') Append(types, "(", Parameter(prototype.result, "_"), ") ");
    types += "_ (";
    for (std::size_t i = 0; i < prototype.arguments.size(); ++i) {
      Append(types, i == 0 ? "" : ", ", Parameter(prototype.arguments[i], "_"));
    }
    Append(text_, " {", head, types, ");\n  call ", result, target, ", (", names, "), ", label, ";",
           use, " }\n");
    return;
  }
  // A call under a predicate diverges, a uniform one does not; they are different instructions.
  const bool uniform = random_.Chance(70);
  Append(text_, " {", head, uniform ? "" : " setp.gt.s32 p, x, 5;", "\n  ",
         uniform ? "call.uni " : "call ", result, target, ", (", names, ");", use, " }\n");
}

void PtxFunctionWriter::DirectCall() {
  const std::vector<std::size_t> callees = Callees(false);
  if (callees.empty()) return Arithmetic();
  const std::size_t callee = callees[random_.Below(callees.size())];
  uses_.functions.insert(callee);
  EmitCall(plan_.functions[callee].name, PtxPrototypes()[plan_.functions[callee].prototype], false);
}

void PtxFunctionWriter::RecursiveCall() {
  std::vector<std::size_t> callees = Callees(true);
  std::erase_if(callees, [this](std::size_t i) { return i > index_; });
  if (callees.empty()) return DirectCall();
  const std::size_t callee = callees[random_.Below(callees.size())];
  uses_.functions.insert(callee);
  const std::string label = Label();
  Append(text_, " setp.lt.s32 p, x, 9; @p bra ", label, ";\n");
  EmitCall(plan_.functions[callee].name, PtxPrototypes()[plan_.functions[callee].prototype], false);
  Append(text_, label, ":\n");
}

void PtxFunctionWriter::IndirectCall() {
  const std::vector<std::size_t> callees = Callees(false);
  if (callees.empty()) return TakeAddress();
  const std::size_t first = callees[random_.Below(callees.size())];
  const std::size_t prototype = plan_.functions[first].prototype;
  std::size_t second = first;
  for (const std::size_t i : callees) {
    if (plan_.functions[i].prototype == prototype && random_.Chance(50)) second = i;
  }
  uses_.functions.insert(first);
  uses_.functions.insert(second);
  Append(
      text_,
      Substitute(" mov.u64 b, $0; mov.u64 c, $1; setp.gt.s32 p, x, $2; selp.b64 c, b, c, p;\n",
                 plan_.functions[first].name, plan_.functions[second].name, random_.Range(0, 9)));
  EmitCall("c", PtxPrototypes()[prototype], true);
}

void PtxFunctionWriter::TableCall() {
  // Through a table in global memory if there is one, else through a pointer from anywhere.
  std::vector<std::size_t> tables = Variables(Space::kGlobal);
  std::erase_if(tables, [this](std::size_t i) {
    return plan_.variables[i].init != PtxVariable::Init::kFunctions;
  });
  if (tables.empty()) {
    Append(text_, " cvt.u64.u32 c, x; ld.global.u64 c, [c];\n");
  } else {
    const std::size_t table = tables[random_.Below(tables.size())];
    uses_.variables.insert(table);
    Append(text_, " ld.global.u64 c, [", plan_.variables[table].name, "];\n");
  }
  EmitCall("c", PtxPrototypes()[random_.Chance(60) ? 0 : random_.Below(PtxPrototypes().size())],
           true);
}

void PtxFunctionWriter::TakeAddress() {
  const std::vector<std::size_t> callees = Callees(true);
  if (callees.empty()) return Arithmetic();
  const std::size_t callee = callees[random_.Below(callees.size())];
  uses_.functions.insert(callee);
  Append(text_, " cvt.u64.u32 b, x; mov.u64 c, ", plan_.functions[callee].name,
         "; st.global.u64 [b], c;\n");
}

void PtxFunctionWriter::Printf() {
  uses_.syscalls.insert("vprintf");
  uses_.format_string = true;
  const std::string frame = "frame" + Label();
  Append(text_,
         Substitute(" { .local .align 8 .b8 $0[8]; .param .b64 i; .param .b64 j; .param .b32 o;\n"
                    "  mov.u64 b, $0; st.local.u32 [b], x; cvta.local.u64 b, b; mov.u64 c, $$str;"
                    " cvta.global.u64 c, c;\n"
                    "  st.param.b64 [i], c; st.param.b64 [j], b; call.uni (o), vprintf, (i, j);"
                    " ld.param.b32 y, [o]; add.s32 x, x, y; }\n",
                    frame));
}

void PtxFunctionWriter::Heap() {
  if (random_.Chance(60)) {
    uses_.syscalls.insert("malloc");
    text_ +=
        " { .param .b64 i; .param .b64 o; cvt.u64.u32 b, x; st.param.b64 [i], b;"
        " call.uni (o), malloc, (i); ld.param.b64 b, [o]; cvt.u32.u64 x, b; }\n";
  } else {
    uses_.syscalls.insert("free");
    text_ += " { .param .b64 i; cvt.u64.u32 b, x; st.param.b64 [i], b; call.uni free, (i); }\n";
  }
}

void PtxFunctionWriter::Assert() {
  uses_.syscalls.insert("__assertfail");
  const std::string label = Label();
  Append(
      text_,
      Substitute(
          " setp.lt.s32 p, x, 100; @p bra $0;\n"
          " { .param .b64 i0; .param .b64 i1; .param .b32 i2; .param .b64 i3; .param .b64 i4;"
          " cvt.u64.u32 b, x;\n"
          "  st.param.b64 [i0], b; st.param.b64 [i1], b; st.param.b32 [i2], $1; st.param.b64 [i3], "
          "b;"
          " st.param.b64 [i4], b;\n"
          "  call.uni __assertfail, (i0, i1, i2, i3, i4); }\n$0:\n",
          label, random_.Range(1, 200)));
}

void PtxFunctionWriter::AccessVariable(std::size_t variable, std::string_view space,
                                       bool may_store) {
  uses_.variables.insert(variable);
  const PtxVariable& v = plan_.variables[variable];
  const bool wide = v.element_bytes == 8;
  const std::string type = Cat(wide                   ? ".b64"
                               : v.element_bytes == 4 ? ".b32"
                               : v.element_bytes == 2 ? ".b16"
                                                      : ".u8");
  const std::string value = wide ? "b" : "y";
  const std::string narrow = wide ? " cvt.u32.u64 y, b; add.s32 x, x, y;\n" : " add.s32 x, x, y;\n";
  const int offset = random_.Range(0, v.count - 1) * v.element_bytes;
  switch (random_.Below(4)) {
    case 0:  // at a fixed place
      Append(text_, " ld", space, type, " ", value, ", [", v.name, "+", offset, "];", narrow);
      break;
    case 1:  // at a computed place
      Append(text_, " and.b32 y, x, 1; mul.wide.u32 b, y, ", v.element_bytes, "; mov.u64 c, ",
             v.name, "; add.s64 c, c, b; ld", space, type, " ", value, ", [c+", offset, "];",
             narrow);
      break;
    case 2:  // through a generic pointer
      Append(text_, " mov.u64 c, ", v.name, "; cvta", space, ".u64 c, c; ld", type, " ", value,
             ", [c];", narrow);
      break;
    default:  // only its address
      Append(text_, " mov.u64 c, ", v.name, "; cvt.u32.u64 y, c; xor.b32 x, x, y;\n");
      break;
  }
  if (may_store && random_.Chance(40)) {
    Append(text_, wide ? " cvt.u64.u32 b, x;" : " mov.u32 y, x;", " st", space, type, " [", v.name,
           "+", offset, "], ", value, ";\n");
  }
}

void PtxFunctionWriter::GlobalAccess() {
  const std::vector<std::size_t> variables = Variables(Space::kGlobal);
  if (variables.empty()) return Arithmetic();
  AccessVariable(variables[random_.Below(variables.size())], ".global", true);
}

void PtxFunctionWriter::ConstAccess() {
  const std::vector<std::size_t> variables = Variables(Space::kConst);
  if (variables.empty()) return Arithmetic();
  AccessVariable(variables[random_.Below(variables.size())], ".const", false);
}

void PtxFunctionWriter::SharedAccess() {
  const std::vector<std::size_t> variables = Variables(Space::kShared);
  if (variables.empty()) return Arithmetic();
  AccessVariable(variables[random_.Below(variables.size())], ".shared", true);
}

void PtxFunctionWriter::DynamicShared() {
  const std::vector<std::size_t> variables = Variables(Space::kExternShared);
  if (variables.empty()) return Arithmetic();
  AccessVariable(variables[random_.Below(variables.size())], ".shared", true);
}

}  // namespace devlink::testing
