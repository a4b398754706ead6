// SPDX-License-Identifier: Apache-2.0
#include "random/ptx_plan.h"

#include <algorithm>
#include <cstddef>

#include "support/text.h"

namespace devlink::testing {
namespace {

using Kind = PtxFunction::Kind;
using Space = PtxVariable::Space;
using Linkage = PtxVariable::Linkage;
using Init = PtxVariable::Init;

// One to all files of the program, in ascending order.
std::vector<int> SomeFiles(Prng& random, int files) {
  std::vector<int> out;
  for (int f = 0; f < files; ++f) {
    if (random.Chance(55)) out.push_back(f);
  }
  if (out.empty()) out.push_back(random.Range(0, files - 1));
  return out;
}

std::string FunctionName(Prng& random, Kind kind, std::size_t index) {
  const char letter = kind == Kind::kStatic ? 's' : kind == Kind::kEntry ? 'k' : 'f';
  // Lengths and characters vary because names are hashed, sorted and stored by nvlink.
  switch (random.Below(4)) {
    case 0:
      return Cat("_Z", 3, letter, "x", index, "i");
    case 1:
      return Cat(std::string(1 + random.Below(12), letter), index);
    default:
      return Cat(std::string(1, letter), index);
  }
}

std::string LaunchBounds(Prng& random, const PtxPlan& plan) {
  std::string out;
  if (plan.Has(kLaunchBounds) && random.Chance(30)) {
    const int threads = random.Pick({32, 64, 128, 256});
    switch (random.Below(5)) {
      case 0:
        Append(out, " .maxntid ", threads, ",1,1");
        break;
      case 1:
        Append(out, " .reqntid ", threads, ",2");
        break;
      case 2:
        Append(out, " .maxntid ", threads, " .minnctapersm 2");
        break;
      case 3:
        Append(out, " .maxnreg ", random.Pick({32, 64, 255}));
        break;
      default:
        Append(out, " .maxntid 1024,1,1");
        break;
    }
  }
  if (plan.Has(kClusters) && plan.target.number >= 90 && random.Chance(12)) {
    out += random.Chance(60) ? " .explicitcluster .reqnctapercluster 2,1,1" : " .maxclusterrank 8";
  }
  return out;
}

Kind PickKind(Prng& random, const PtxPlan& plan, bool may_be_entry) {
  if (may_be_entry && random.Chance(30)) {
    return plan.Has(kWeak) && random.Chance(15) ? Kind::kWeakEntry : Kind::kEntry;
  }
  if (plan.Has(kWeak) && random.Chance(25)) return Kind::kWeak;
  if (plan.Has(kStatics) && random.Chance(20)) return Kind::kStatic;
  return Kind::kDevice;
}

PtxFunction MakeFunction(Prng& random, const PtxPlan& plan, std::size_t index, Kind kind) {
  PtxFunction f;
  f.kind = kind;
  f.name = FunctionName(random, kind, index);
  f.body_seed = random.Next();
  f.prototype = random.Chance(50) ? 0 : random.Below(PtxPrototypes().size());
  const bool is_weak = kind == Kind::kWeak || kind == Kind::kWeakEntry;
  if (is_weak || kind == Kind::kStatic) {
    f.files = SomeFiles(random, plan.files);
    f.equal_bodies = kind == Kind::kStatic ? random.Chance(30)
                                           : !plan.Has(kWeakReplacement) || random.Chance(65);
    if (is_weak && plan.Has(kStrongOverWeak) && random.Chance(10)) {
      f.strong_file = f.files[random.Below(f.files.size())];
    }
  } else {
    f.files = {random.Range(0, plan.files - 1)};
  }
  if (f.IsEntry()) {
    f.directives = LaunchBounds(random, plan);
    if (random.Chance(30)) f.parameter_bytes = random.Pick({1, 4, 12, 24, 128, 1000});
  }
  return f;
}

void AddFunctions(Prng& random, PtxPlan& plan) {
  const auto most = static_cast<std::size_t>(std::max(1, plan.limits.max_functions * plan.files));
  // The smaller of two draws: small programs are quick and find most differences.
  const std::size_t count = 1 + std::min(random.Below(most), random.Below(most));
  // Programs with a single entry follow rules of their own in nvlink, so there must be many of
  // them.
  const bool single_kernel = random.Chance(30);
  for (std::size_t i = 0; i < count; ++i) {
    const Kind kind =
        single_kernel && i == 0 ? Kind::kEntry : PickKind(random, plan, !single_kernel);
    plan.functions.push_back(MakeFunction(random, plan, i, kind));
  }
  const bool has_entry = std::any_of(plan.functions.begin(), plan.functions.end(),
                                     [](const PtxFunction& f) { return f.IsEntry(); });
  if (!has_entry && random.Chance(90)) {
    plan.functions.front() = MakeFunction(random, plan, 0, Kind::kEntry);
  }
  for (std::size_t i = 0; i < count && plan.Has(kAlias); ++i) {
    if (plan.functions[i].kind != Kind::kDevice || !random.Chance(8)) continue;
    PtxFunction alias = plan.functions[i];
    alias.kind = Kind::kAlias;
    alias.alias_of = i;
    alias.name = Cat("alias", i);
    plan.functions.push_back(std::move(alias));
  }
}

void ChooseLinkage(Prng& random, const PtxPlan& plan, PtxVariable& v) {
  v.linkage = Linkage::kVisible;
  if (v.space == Space::kExternShared) return;
  const bool is_object = v.space == Space::kTexture || v.space == Space::kSurface;
  if (plan.Has(kStatics) && random.Chance(30)) v.linkage = Linkage::kStatic;
  if (plan.Has(kWeakObjects) && !is_object && random.Chance(15)) v.linkage = Linkage::kWeak;
  if (plan.Has(kCommon) && v.space == Space::kGlobal && random.Chance(6)) {
    v.linkage = Linkage::kCommon;
  }
  if (v.space == Space::kShared && !plan.Has(kSharedAcrossFiles) &&
      v.linkage == Linkage::kVisible) {
    v.linkage = Linkage::kStatic;
  }
  if (v.linkage == Linkage::kVisible) {
    v.files = {random.Range(0, plan.files - 1)};
  } else {
    v.files = SomeFiles(random, plan.files);
  }
}

void ChooseInit(Prng& random, const PtxPlan& plan, PtxVariable& v) {
  const bool may_have_init =
      (v.space == Space::kGlobal || v.space == Space::kConst) && v.linkage != Linkage::kCommon;
  if (!may_have_init) return;
  if (random.Chance(50)) v.init = Init::kNumbers;
  if (plan.Has(kManaged) && v.space == Space::kGlobal && v.linkage == Linkage::kVisible &&
      random.Chance(8)) {
    v.managed = true;
    return;
  }
  if (plan.Has(kPointers) && random.Chance(20)) {
    v.init = random.Pick({Init::kVariables, Init::kGenericVariables, Init::kFunctions});
    if (plan.Has(kMaskedPointers) && random.Chance(20)) v.init = Init::kMasked;
    v.element_bytes = v.init == Init::kMasked ? 1 : 8;
    v.align = std::max(v.align, v.element_bytes);
    if (v.init == Init::kMasked) v.count = 8;
  }
}

PtxVariable MakeVariable(Prng& random, const PtxPlan& plan, std::size_t index, Space space) {
  PtxVariable v;
  v.space = space;
  v.name = Cat(random.Chance(20) ? "a_rather_long_variable_name_" : "g", index);
  v.element_bytes = random.Pick({1, 2, 4, 4, 8});
  v.count = random.Pick({1, 2, 3, 4, 7, 16, 20, 33});
  v.align = std::max(v.element_bytes, random.Pick({1, 4, 8, 16, 32, 128}));
  if (random.Chance(60)) v.align = v.element_bytes;
  if (space == Space::kExternShared)
    v.align = std::max(v.element_bytes, random.Pick({1, 4, 8, 16}));
  ChooseLinkage(random, plan, v);
  ChooseInit(random, plan, v);
  return v;
}

void AddVariables(Prng& random, PtxPlan& plan) {
  std::vector<Space> spaces;
  if (plan.Has(kGlobals)) spaces.resize(4, Space::kGlobal);
  if (plan.Has(kConstants)) spaces.resize(spaces.size() + 2, Space::kConst);
  if (plan.Has(kShared)) spaces.resize(spaces.size() + 3, Space::kShared);
  if (plan.Has(kExternShared)) spaces.push_back(Space::kExternShared);
  if (plan.Has(kReferences) && random.Chance(5)) {
    spaces.push_back(Space::kTexture);
    spaces.push_back(Space::kSurface);
  }
  if (spaces.empty()) return;
  // Now and then a program about shared memory only, whose layout is the hardest to predict.
  if (plan.Has(kShared) && random.Chance(10)) spaces = {Space::kShared};
  const int count = random.Range(0, plan.limits.max_variables);
  for (int i = 0; i < count; ++i) {
    plan.variables.push_back(
        MakeVariable(random, plan, plan.variables.size(), spaces[random.Below(spaces.size())]));
  }
}

}  // namespace

const std::vector<PtxPrototype>& PtxPrototypes() {
  static const std::vector<PtxPrototype> kPrototypes = {
      {'i', "i"},  {'i', ""},  {'v', "l"}, {'l', "li"},
      {'f', "fi"}, {'d', "d"}, {'i', "s"}, {'s', "il"},
  };
  return kPrototypes;
}

bool PtxFunction::DefinedIn(int file) const {
  return std::find(files.begin(), files.end(), file) != files.end();
}

bool PtxVariable::DefinedIn(int file) const {
  return std::find(files.begin(), files.end(), file) != files.end();
}

PtxPlan MakePtxPlan(Prng& random, ProgramTarget target, const GeneratorLimits& limits) {
  PtxPlan plan;
  plan.target = target;
  plan.limits = limits;
  plan.files = 1 + static_cast<int>(random.Below(static_cast<std::size_t>(limits.max_files)));
  AddFunctions(random, plan);
  AddVariables(random, plan);
  return plan;
}

}  // namespace devlink::testing
