// SPDX-License-Identifier: Apache-2.0
#include "link/check.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/hash_table.h"
#include "base/strings.h"
#include "format/driver_names.h"
#include "format/make_diagnostic.h"
#include "format/nv_info.h"
#include "format/nvlink_text.h"
#include "format/relocations.h"
#include "format/sections.h"
#include "format/sm_traits.h"
#include "link/reach.h"
#include "link/undefined.h"
#include "model/module.h"

namespace devlink::internal {

namespace nvlink_text = format::nvlink_text;

namespace {

using format::kMaxConstantBank;
using format::kMaxRegisters;
using format::kMaxStaticShared;

class Checker {
 public:
  Checker(const CheckInput& input, const CheckSettings& settings,
          std::vector<Diagnostic>& diagnostics)
      : input_(input), program_(input.program), settings_(settings), diagnostics_(diagnostics) {}

  absl::Status Run() {
    CheckStacks();
    CheckShared();
    CheckUnplaced();
    CheckConstants();
    CheckUndefined();
    CheckCtaGroups();
    CheckRegisters();
    return CheckReferences();
  }

  // What nobody but a damaged input can be blamed for.
  absl::Status RunOnMercury() {
    CheckUndefined();
    CheckLost();
    const auto& refused = input_.relocated.refused;
    if (!refused.empty() && failure_.ok()) {
      ReportDamage(refused.front(), "which nothing can be done with in the Mercury view");
    }
    CheckOverflows();
    return failure_;
  }

 private:
  void CheckUndefined() {
    for (Diagnostic& diagnostic : FindUndefined(input_, settings_.allow_undefined_globals)) {
      Fail(absl::NotFoundError(base::ToAbsl(diagnostic.text)));
      diagnostics_.push_back(std::move(diagnostic));
    }
  }

  absl::Status CheckReferences() {
    CheckLost();
    CheckRelocations();
    CheckOverflows();
    return failure_;
  }

  [[nodiscard]] std::string_view NameOf(FunctionId function) const {
    return program_.symbols[program_.functions[function].symbol].name;
  }
  [[nodiscard]] const std::string& InputOf(FunctionId function) const {
    return input_.inputs[program_.symbols[program_.functions[function].symbol].input].name;
  }

  void Fail(absl::Status status) {
    if (failure_.ok()) failure_ = std::move(status);
  }

  void Report(DiagnosticCode code, Severity severity, std::string text, FunctionId function,
              std::string note) {
    if (severity == Severity::kError) {
      const absl::string_view message = base::ToAbsl(text);
      Fail(code == DiagnosticCode::kStackSizeUnknown ? absl::FailedPreconditionError(message)
                                                     : absl::ResourceExhaustedError(message));
    }
    Diagnostic& out = diagnostics_.emplace_back();
    out.code = code;
    out.severity = severity;
    out.text = std::move(text);
    if (function != kNone) {
      out.symbol = NameOf(function);
      out.input = InputOf(function);
    }
    if (!note.empty()) out.notes.push_back(std::move(note));
  }

  // nvlink says it once for every function called that leads into a circle.
  void CheckStacks() {
    const auto severity = settings_.severities.Judge(Severity::kWarning);
    if (!settings_.warn_of_unknown_stacks || !severity) return;
    for (std::size_t i = 0; i < input_.liveness.kernels.size(); ++i) {
      if (input_.resources.kernels[i].stack) continue;
      const FunctionId kernel = input_.liveness.kernels[i];
      if (input_.resources.unbounded.contains(kernel)) continue;  // whoever compiled it was told
      const std::uint32_t calls = input_.resources.kernels[i].calls_into_circles;
      for (std::uint32_t said = 0; said == 0 || (settings_.as_nvlink && said < calls); ++said) {
        Report(DiagnosticCode::kStackSizeUnknown, *severity,
               nvlink_text::StackSizeUnknown(NameOf(kernel)), kernel, "");
      }
    }
  }

  void CheckShared() {
    for (std::size_t i = 0; i < input_.liveness.kernels.size(); ++i) {
      const FunctionId kernel = input_.liveness.kernels[i];
      const KernelShared& shared = input_.shared.kernels[i];
      const std::uint64_t size =
          shared.size > settings_.reserved_shared ? shared.size - settings_.reserved_shared : 0;
      if (size <= kMaxStaticShared) continue;
      Report(DiagnosticCode::kResourceOverflow, Severity::kError,
             nvlink_text::TooMuchShared(NameOf(kernel), size, kMaxStaticShared), kernel,
             "larger blocks of shared memory must be declared as extern and sized at launch");
    }
  }

  void CheckUnplaced() {
    for (const UnplacedShared& unplaced : input_.shared.unplaced) {
      const Symbol& variable = program_.symbols[unplaced.variable];
      Diagnostic& out = diagnostics_.emplace_back();
      out.code = DiagnosticCode::kUnsupportedFeature;
      out.severity = Severity::kError;
      out.text = nvlink_text::NoRoomInKernel(variable.name, NameOf(unplaced.kernel));
      out.symbol = variable.name;
      out.input = input_.inputs[variable.input].name;
      constexpr std::string_view kAdvice =
          "' was compiled with -ewp, which laid out its shared memory: compile it with -rdc=true "
          "instead";
      out.notes.push_back(
          base::Cat({"'", NameOf(unplaced.kernel), "' of '", InputOf(unplaced.kernel), kAdvice}));
      Fail(absl::FailedPreconditionError(base::ToAbsl(out.text)));
    }
  }

  void CheckConstants() {
    if (program_.constant_bank3 != kNone) {
      const std::uint64_t size = program_.sections[program_.constant_bank3].size;
      if (size > kMaxConstantBank) {
        Report(DiagnosticCode::kResourceOverflow, Severity::kError,
               nvlink_text::TooMuchConstant(size, kMaxConstantBank), kNone,
               "this is the sum of the __constant__ variables of all inputs");
      }
    }
    for (const ConstantBank& bank : input_.constants.banks) {
      if (bank.size <= kMaxConstantBank) continue;
      Report(DiagnosticCode::kResourceOverflow, Severity::kError,
             nvlink_text::TooManyCompilerConstants(NameOf(bank.kernel)), bank.kernel, "");
    }
    if (!input_.constants.too_large) return;
    Report(DiagnosticCode::kResourceOverflow, Severity::kError,
           "the constants that kernels take over from the functions they reach do not fit into the "
           "memory that a link may use",
           kNone,
           "each kernel has a copy; the option max_memory_bytes is the bound for all of them");
  }

  // Tensor memory is allocated by one block or by two together, in all that a kernel runs.
  void CheckCtaGroups() {
    const std::vector<FunctionId>& kernels = input_.attributes.mixing_cta_groups;
    if (kernels.empty()) return;
    const auto users = CollectReachable(input_.graph, UsersOfTensorMemory(), kernels);
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      const FunctionId kernel = kernels[i];
      Diagnostic& out = diagnostics_.emplace_back();
      out.code = DiagnosticCode::kUnsupportedFeature;
      out.severity = Severity::kError;
      out.text = nvlink_text::MixedCtaGroups(NameOf(kernel));
      out.symbol = NameOf(kernel);
      out.input = InputOf(kernel);
      Fail(absl::FailedPreconditionError(base::ToAbsl(out.text)));
      if (users[i].size() != 2) continue;
      const FunctionId one = FunctionOfList(users[i][0].key);
      const FunctionId two = FunctionOfList(users[i][1].key);
      out.notes.push_back(
          base::Cat({"'", NameOf(one), "' in '", InputOf(one), "' uses .cta_group::1, '",
                     NameOf(two), "' in '", InputOf(two), "' .cta_group::2"}));
    }
  }

  // Functions that use it, by one of the two attributes, in the order of their lists.
  [[nodiscard]] std::vector<OwnItem> UsersOfTensorMemory() const {
    std::vector<OwnItem> out;
    for (std::size_t list = 0; list < program_.info_sections.size(); ++list) {
      const Section& section = program_.sections[program_.info_sections[list]];
      if (section.function == kNone) continue;
      for (const AttributeRecord& record : program_.info_lists[section.info_list]) {
        if (record.id != format::kAttrTcgen05OneCta && record.id != format::kAttrTcgen05TwoCta) {
          continue;
        }
        out.push_back({.function = section.function, .item = record.id, .key = list});
      }
    }
    return out;
  }
  [[nodiscard]] FunctionId FunctionOfList(std::uint64_t list) const {
    return program_.sections[program_.info_sections[list]].function;
  }

  // A kernel that was compiled for few registers must not reach a function that needs more. nvlink
  // goes through the functions as they were defined, and for each through the kernels, last one
  // first.
  void CheckRegisters() {
    const auto& registers = input_.resources.function_registers;
    std::vector<FunctionId> limited;
    std::uint32_t least = kMaxRegisters;
    for (std::size_t i = input_.liveness.kernels.size(); i-- > 0;) {
      const FunctionId kernel = input_.liveness.kernels[i];
      const std::uint32_t limit = RegisterLimit(kernel);
      if (limit >= kMaxRegisters || input_.resources.kernels[i].registers <= limit) continue;
      limited.push_back(kernel);
      least = std::min(least, limit);
    }
    if (limited.empty()) return;
    std::vector<OwnItem>
        own_items;  // the item is the code section: those come as functions are defined
    for (FunctionId f = 0; f < program_.functions.size(); ++f) {
      if (program_.IsDefined(f) && registers[f] > least) {
        own_items.push_back({f, program_.functions[f].text, 0});
      }
    }
    std::sort(own_items.begin(), own_items.end(),
              [](const OwnItem& a, const OwnItem& b) { return a.item < b.item; });
    // By positions in `limited`.
    const auto users = UsersOfItems(input_.graph, own_items, limited);
    std::vector<std::uint32_t> most;
    most.reserve(limited.size());
    for (const FunctionId kernel : limited) most.push_back(registers[kernel]);
    for (const OwnItem& own_item : own_items) {
      const FunctionId function = program_.sections[own_item.item].function;
      const auto found = users.find(own_item.item);
      if (found == users.end()) continue;
      for (const std::uint32_t i : found->second.Sorted()) {
        if (registers[function] <= most[i]) continue;
        most[i] = registers[function];
        const std::uint32_t limit = RegisterLimit(limited[i]);
        if (registers[function] > limit) ReportRegisters(limited[i], limit, function);
      }
    }
  }

  void ReportRegisters(FunctionId kernel, std::uint32_t limit, FunctionId function) {
    Report(DiagnosticCode::kResourceOverflow, Severity::kError,
           nvlink_text::TooManyRegisters(NameOf(kernel), limit, NameOf(function),
                                         input_.resources.function_registers[function]),
           kernel, "");
  }

  // What is said of a relocation that the link cannot go on with.
  Diagnostic& Refuse(DiagnosticCode code, const Relocation& relocation, std::string_view input,
                     std::string_view text) {
    Diagnostic& out = diagnostics_.emplace_back();
    out.code = code;
    out.severity = Severity::kFatal;
    out.symbol = program_.symbols[relocation.symbol].name;
    out.input = input;
    out.text = text;
    return out;
  }

  // The call graphs of the inputs decide what stays. Where one does not name what code calls, it is
  // damaged, and the call would lead nowhere. For nvlink, what a function calls goes where the
  // function stays for its address only.
  void CheckLost() {
    const auto& lost = input_.relocated.lost;
    if (lost.empty() || !failure_.ok()) return;
    const auto body_of = [this](FunctionId function) {
      const FunctionId real = program_.functions[function].alias_of;
      return real == kNone ? function : real;
    };
    base::HashSet<std::pair<FunctionId, FunctionId>> named;
    for (const auto* list : {&program_.calls, &program_.address_takers}) {
      for (const CallEdge& edge : *list) named.insert({body_of(edge.caller), body_of(edge.callee)});
    }
    const base::HashSet<FunctionId> forgotten(program_.forgotten_addresses.begin(),
                                              program_.forgotten_addresses.end());
    const auto unnamed = std::find_if(lost.begin(), lost.end(), [&](const Relocation& relocation) {
      const Section& section = program_.sections[relocation.section];
      const FunctionId function = program_.symbols[relocation.symbol].function;
      if (section.kind == SectionKind::kConstantBank && section.bank == format::kPointerBank) {
        return false;  // code that comes to the function by it is named as its caller
      }
      if (section.kind != SectionKind::kText) {
        return !settings_.as_nvlink && !forgotten.contains(function);
      }
      return !named.contains({section.function, body_of(function)});
    });
    if (unnamed != lost.end()) ReportDamage(*unnamed, "which its call graph does not name");
  }

  // The input whose code or data has the reference.
  std::string_view InputOf(const Relocation& relocation) const {
    const Section& section = program_.sections[relocation.section];
    if (section.kind == SectionKind::kText) {
      return input_.inputs[program_.symbols[program_.functions[section.function].symbol].input]
          .name;
    }
    const auto holds = [&](const Piece& piece) {
      return piece.offset <= relocation.offset &&
             relocation.offset - piece.offset < piece.bytes.size();
    };
    const auto piece = std::find_if(section.pieces.begin(), section.pieces.end(), holds);
    for (const LinkInput& input : input_.inputs) {
      if (piece == section.pieces.end()) break;
      const base::Bytes file = input.module->bytes();
      const std::less<> before;
      if (before(piece->bytes.data(), file.data())) continue;
      if (before(piece->bytes.data(), file.data() + file.size())) return input.name;
    }
    return input_.inputs[program_.symbols[relocation.symbol].input].name;
  }

  void ReportDamage(const Relocation& relocation, std::string_view how) {
    const Section& section = program_.sections[relocation.section];
    const std::string_view input = InputOf(relocation);
    Diagnostic& out =
        Refuse(DiagnosticCode::kMalformedInput, relocation, input, format::DamagedText(input));
    out.notes.push_back(
        base::Cat({"section '", section.name, "' refers to '", out.symbol, "', ", how}));
    Fail(absl::InvalidArgumentError(base::ToAbsl(out.text)));
  }

  // Relocations that neither the linker nor the loader can do anything with.
  void CheckRelocations() {
    if (input_.relocated.refused.empty() || !failure_.ok()) return;
    const Relocation& relocation = input_.relocated.refused.front();
    const Symbol& symbol = program_.symbols[relocation.symbol];
    const format::RelocationInfo* info = format::FindRelocation(relocation.type);
    const bool kept = format::IsUnifiedTable(symbol.name) ||
                      IsOfLostSection(symbol, input_.liveness, input_.constants) ||
                      (info != nullptr && info->action == format::RelocationAction::kKeep);
    const std::string_view section = program_.sections[relocation.section].name;
    const std::string& input = input_.inputs[symbol.input].name;
    Diagnostic& out = Refuse(DiagnosticCode::kUnresolvableRelocation, relocation, input,
                             kept ? std::string(nvlink_text::kDeletedSymbol)
                                  : base::Cat({"Reference to '", symbol.name, "' in section '",
                                               section, "' of '", input, "' cannot be resolved"}));
    out.notes.push_back(base::Cat({"R_CUDA_", info != nullptr ? info->name : "?", " in section '",
                                   section, "' against '", symbol.name, "' of '", input, "'"}));
    if (kept) out.notes.emplace_back("the symbol is one that a linked cubin does not have");
    Fail(absl::FailedPreconditionError(base::ToAbsl(out.text)));
  }

  // nvlink stores what there is room for, and the code refers to something else.
  void CheckOverflows() {
    const auto& overflows = input_.relocated.overflows;
    if (overflows.empty() || settings_.as_nvlink || !failure_.ok()) return;
    const Relocation& relocation = overflows.front().relocation;
    const Symbol& symbol = program_.symbols[relocation.symbol];
    const Section& section = program_.sections[relocation.section];
    const FunctionId user = section.function;
    const SymbolId place = user == kNone ? relocation.symbol : program_.functions[user].symbol;
    const std::string& input = input_.inputs[program_.symbols[place].input].name;
    Diagnostic& out =
        Refuse(DiagnosticCode::kRelocationOverflow, relocation, input,
               base::Cat({"Reference to '", symbol.name, "' in section '", section.name, "' of '",
                          input, "' does not fit its field"}));
    const format::RelocationInfo* info = format::FindRelocation(relocation.type);
    out.notes.push_back(absl::StrCat(
        "the value is ", absl::Hex(overflows.front().value), " (hexadecimal), the field R_CUDA_",
        base::ToAbsl(info != nullptr ? info->name : "?"), " at ", absl::Hex(relocation.offset)));
    if (overflows.size() > 1) {
      out.notes.push_back(absl::StrCat(overflows.size() - 1, " more references do not fit"));
    }
    out.notes.emplace_back("an index is too far behind its variable; --compat=nvlink cuts it off");
    Fail(absl::FailedPreconditionError(base::ToAbsl(out.text)));
  }

  [[nodiscard]] std::uint32_t RegisterLimit(FunctionId kernel) const {
    std::uint32_t limit = kMaxRegisters;
    const SectionId info = program_.functions[kernel].info;
    if (info == kNone) return limit;
    for (const AttributeRecord& record : program_.info_lists[program_.sections[info].info_list]) {
      if (record.id == format::kAttrMaxRegCount && record.format != format::kInfoSized) {
        limit = record.value;
      }
    }
    return limit;
  }

  const CheckInput& input_;
  const Program& program_;
  const CheckSettings& settings_;
  std::vector<Diagnostic>& diagnostics_;
  absl::Status failure_;
};

}  // namespace

absl::Status CheckProgram(const CheckInput& input, const CheckSettings& settings,
                          std::vector<Diagnostic>& diagnostics) {
  return Checker(input, settings, diagnostics).Run();
}

absl::Status CheckMercuryReferences(const CheckInput& input, const CheckSettings& settings,
                                    std::vector<Diagnostic>& diagnostics) {
  return Checker(input, settings, diagnostics).RunOnMercury();
}

}  // namespace devlink::internal
