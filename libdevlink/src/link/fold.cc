// SPDX-License-Identifier: Apache-2.0
#include "link/fold.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/hash_table.h"

namespace devlink::internal {

namespace {

// What makes functions the same, as bytes.
class Signature {
 public:
  void Add(std::uint64_t number) {
    text_.append(reinterpret_cast<const char*>(&number), sizeof(number));
  }
  void Add(base::Bytes bytes) {
    Add(bytes.size());
    text_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  std::string Take() { return std::exchange(text_, {}); }

 private:
  std::string text_;
};

// Numbers in rows, one row for each of `count` owners.
class Rows {
 public:
  template <typename Range, typename OwnerOf>
  Rows(std::size_t count, const Range& items, const OwnerOf& owner_of) : begin_(count + 1) {
    for (const auto& item : items) {
      if (const std::uint32_t owner = owner_of(item); owner != kNone) ++begin_[owner + 1];
    }
    for (std::size_t i = 0; i < count; ++i) begin_[i + 1] += begin_[i];
    items_.resize(begin_.back());
    std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
    std::uint32_t index = 0;
    for (const auto& item : items) {
      if (const std::uint32_t owner = owner_of(item); owner != kNone) {
        items_[next[owner]++] = index;
      }
      ++index;
    }
  }

  // The places of an owner's items, in their order.
  [[nodiscard]] std::span<const std::uint32_t> Of(std::uint32_t owner) const {
    return std::span(items_).subspan(begin_[owner], begin_[owner + 1] - begin_[owner]);
  }

 private:
  std::vector<std::size_t> begin_;
  std::vector<std::uint32_t> items_;
};

class Folder {
 public:
  Folder(Program& program, std::span<const FunctionId> stay)
      : program_(program),
        calls_(program.functions.size(), program.calls,
               [](const CallEdge& call) { return call.caller; }),
        callers_(program.functions.size(), program.calls,
                 [](const CallEdge& call) { return call.callee; }),
        takers_(program.functions.size(), program.address_takers,
                [](const CallEdge& use) { return use.caller; }),
        through_(program.functions.size(), program.indirect_callers,
                 [](const PrototypeUse& use) { return use.function; }),
        relocations_(program.functions.size(), program.relocations,
                     [&](const Relocation& relocation) { return CodeOwner(relocation.section); }),
        records_(program.functions.size(), ModuleRecords(), [&](const AttributeRecord& record) {
          return record.symbol == kNone ? kNone : program_.symbols[record.symbol].function;
        }) {
    for (FunctionId f = 0; f < program.functions.size(); ++f) stands_for_.push_back(f);
    FindCandidates(stay);
  }

  // The functions that go, each with the one that stands for it.
  std::vector<std::pair<FunctionId, FunctionId>> Run() {
    std::vector<std::uint32_t> waits_for(program_.functions.size());
    std::vector<FunctionId> ready;
    for (FunctionId f = 0; f < waits_for.size(); ++f) {
      waits_for[f] = static_cast<std::uint32_t>(calls_.Of(f).size());
      if (waits_for[f] == 0) ready.push_back(f);
    }
    // What calls itself, however indirectly, never comes to be ready.
    std::vector<FunctionId> order;
    while (!ready.empty()) {
      const FunctionId f = ready.back();
      ready.pop_back();
      order.push_back(f);
      for (const std::uint32_t call : callers_.Of(f)) {
        const FunctionId caller = program_.calls[call].caller;
        if (--waits_for[caller] == 0) ready.push_back(caller);
      }
    }
    // By height, so that of several the first in creation order stays.
    std::vector<std::uint32_t> height(program_.functions.size(), 0);
    for (const FunctionId f : order) {
      for (const std::uint32_t call : calls_.Of(f)) {
        height[f] = std::max(height[f], height[program_.calls[call].callee] + 1);
      }
    }
    std::sort(order.begin(), order.end(), [&](FunctionId a, FunctionId b) {
      return std::pair(height[a], a) < std::pair(height[b], b);
    });
    std::vector<std::pair<FunctionId, FunctionId>> out;
    base::HashMap<std::string, FunctionId> known;
    for (const FunctionId f : order) {
      if (!candidate_[f]) continue;
      const auto [first, is_new] = known.try_emplace(SignatureOf(f), f);
      if (is_new) continue;
      stands_for_[f] = first->second;
      out.emplace_back(f, first->second);
    }
    return out;
  }

  // Whoever named a function that goes names the one that stands for it.
  void Redirect() {
    for (Relocation& relocation : program_.relocations) {
      // Records about the code that goes stay with it.
      if (CodeOwner(relocation.section) != kNone || IsData(relocation.section)) {
        relocation.symbol = SymbolFor(relocation.symbol);
      }
    }
    for (SymbolId& symbol : program_.extern_symbols) symbol = SymbolFor(symbol);
    // A caller of both has one call less; where inputs list a call twice, both stay.
    base::HashSet<std::pair<FunctionId, FunctionId>> known;
    for (const CallEdge& call : program_.calls) {
      if (stands_for_[call.callee] == call.callee) known.insert({call.caller, call.callee});
    }
    std::erase_if(program_.calls, [&](CallEdge& call) {
      const FunctionId callee = std::exchange(call.callee, stands_for_[call.callee]);
      return callee != call.callee && !known.insert({call.caller, call.callee}).second;
    });
  }

 private:
  [[nodiscard]] std::span<const AttributeRecord> ModuleRecords() const {
    if (program_.module_info == kNone) return {};
    return program_.info_lists[program_.sections[program_.module_info].info_list];
  }

  [[nodiscard]] FunctionId CodeOwner(SectionId section) const {
    const Section& code = program_.sections[section];
    return code.kind == SectionKind::kText ? code.function : kNone;
  }

  [[nodiscard]] bool IsData(SectionId section) const {
    return program_.sections[section].kind != SectionKind::kDebug;
  }

  void FindCandidates(std::span<const FunctionId> stay) {
    candidate_.assign(program_.functions.size(), false);
    for (FunctionId f = 0; f < program_.functions.size(); ++f) {
      const Function& function = program_.functions[f];
      candidate_[f] = function.text != kNone && !function.is_kernel && function.alias_of == kNone &&
                      function.constants.empty();
    }
    for (const FunctionId f : stay) candidate_[f] = false;
    for (const Function& function : program_.functions) {
      if (function.alias_of != kNone) candidate_[function.alias_of] = false;
    }
    for (const PrototypeUse& use : program_.addresses_taken) candidate_[use.function] = false;
    for (const CallEdge& use : program_.address_takers) candidate_[use.callee] = false;
    for (const Relocation& relocation : program_.relocations) {
      const FunctionId named = program_.symbols[relocation.symbol].function;
      if (named == kNone || !IsData(relocation.section)) continue;
      // From data: its address is taken, whatever the lists say.
      if (CodeOwner(relocation.section) == kNone) candidate_[named] = false;
    }
  }

  [[nodiscard]] SymbolId SymbolFor(SymbolId symbol) const {
    const FunctionId function = symbol == kNone ? kNone : program_.symbols[symbol].function;
    if (function == kNone || stands_for_[function] == function) return symbol;
    return program_.functions[stands_for_[function]].symbol;
  }

  // A function's own symbol is another in every copy.
  [[nodiscard]] std::uint64_t NumberOf(SymbolId symbol, FunctionId self) const {
    constexpr std::uint64_t kSelf = std::uint64_t{1} << 32;
    if (symbol != kNone && symbol == program_.functions[self].symbol) return kSelf;
    return SymbolFor(symbol);
  }

  void AddRecord(const AttributeRecord& record, FunctionId self) {
    signature_.Add(record.id | record.format << 8U | std::uint64_t{record.value} << 16U);
    if (record.externs != kNone) {
      const std::size_t count = record.payload.size() / sizeof(std::uint32_t);
      signature_.Add(count);
      for (std::size_t i = 0; i < count; ++i) {
        signature_.Add(NumberOf(program_.extern_symbols[record.externs + i], self));
      }
    } else if (record.symbol != kNone) {
      signature_.Add(NumberOf(record.symbol, self));
      signature_.Add(record.payload.subspan(std::min<std::size_t>(4, record.payload.size())));
    } else {
      signature_.Add(record.payload);
    }
  }

  std::string SignatureOf(FunctionId f) {
    const Function& function = program_.functions[f];
    const Section& code = program_.sections[function.text];
    signature_.Add(code.size);
    signature_.Add(code.align | std::uint64_t{code.flags} << 32U);
    signature_.Add(code.registers | std::uint64_t{function.registers} << 32U);
    signature_.Add(function.prototype);
    signature_.Add(code.pieces.size());
    for (const Piece& piece : code.pieces) {
      signature_.Add(piece.offset);
      signature_.Add(piece.bytes);
    }
    AddRelocations(f);
    std::vector<AttributeRecord> records;
    if (function.info != kNone) {
      records = program_.info_lists[program_.sections[function.info].info_list];
    }
    for (const std::uint32_t i : records_.Of(f)) records.push_back(ModuleRecords()[i]);
    // Their order says nothing.
    std::stable_sort(records.begin(), records.end(),
                     [](const auto& a, const auto& b) { return a.id < b.id; });
    signature_.Add(records.size());
    for (const AttributeRecord& record : records) AddRecord(record, f);
    AddCalls(f);
    return signature_.Take();
  }

  void AddRelocations(FunctionId f) {
    const auto all = relocations_.Of(f);
    std::vector<std::uint32_t> sorted(all.begin(), all.end());
    std::stable_sort(sorted.begin(), sorted.end(), [&](std::uint32_t a, std::uint32_t b) {
      return program_.relocations[a].offset < program_.relocations[b].offset;
    });
    signature_.Add(sorted.size());
    for (const std::uint32_t i : sorted) {
      const Relocation& relocation = program_.relocations[i];
      signature_.Add(relocation.offset);
      signature_.Add(static_cast<std::uint64_t>(relocation.addend));
      signature_.Add(relocation.type);
      signature_.Add(program_.sections[relocation.list].type);
      signature_.Add(NumberOf(relocation.symbol, f));
    }
  }

  void AddCalls(FunctionId f) {
    std::vector<std::uint64_t> callees;
    for (const std::uint32_t i : calls_.Of(f)) {
      callees.push_back(stands_for_[program_.calls[i].callee]);
    }
    std::sort(callees.begin(), callees.end());
    callees.erase(std::unique(callees.begin(), callees.end()), callees.end());
    signature_.Add(callees.size());
    for (const std::uint64_t callee : callees) signature_.Add(callee);
    signature_.Add(takers_.Of(f).size());
    for (const std::uint32_t i : takers_.Of(f)) signature_.Add(program_.address_takers[i].callee);
    signature_.Add(through_.Of(f).size());
    for (const std::uint32_t i : through_.Of(f)) {
      signature_.Add(program_.indirect_callers[i].prototype);
    }
  }

  Program& program_;
  const Rows calls_;
  const Rows callers_;
  const Rows takers_;
  const Rows through_;
  const Rows relocations_;  // of code
  const Rows records_;      // of the module's attributes
  std::vector<bool> candidate_;
  std::vector<FunctionId> stands_for_;
  Signature signature_;
};

}  // namespace

Folded FoldIdentical(Program program, std::span<const FunctionId> stay) {
  Folded out{.program = std::move(program)};
  Folder folder(out.program, stay);
  out.replaced = folder.Run();
  if (!out.replaced.empty()) folder.Redirect();
  return out;
}

}  // namespace devlink::internal
