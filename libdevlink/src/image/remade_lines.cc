// SPDX-License-Identifier: Apache-2.0
#include "image/remade_lines.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "format/capsule.h"
#include "format/line_program.h"
#include "format/sections.h"
#include "image/function_fields.h"
#include "image/section_bytes.h"

namespace devlink::internal {

namespace {

using format::LineProgram;
using format::LineRow;
using format::LineSequence;
using format::LineUnit;

// Of a sequence: code has a row for each instruction and for each call that is inlined there. What
// has more is left as it is, since what a row takes in memory is many times its bytes.
constexpr std::uint64_t kMostRows = std::uint64_t{1} << 20;

// A line table of one view.
struct TableOfView {
  std::vector<std::uint8_t> bytes;
  format::LineTable table;
  FunctionFields named;

  // Nothing where the sequence does not begin with a function's place.
  [[nodiscard]] std::optional<SymbolId> FunctionOf(const LineSequence& sequence) const {
    const auto found = named.find(sequence.begin + format::kSetAddressHead);
    if (found == named.end()) return std::nullopt;
    return found->second->symbol;
  }
  [[nodiscard]] std::optional<format::LineScale> ScaleOf(const LineUnit& unit) const {
    return format::ReadLineScale(base::Bytes(bytes).subspan(unit.begin, unit.program - unit.begin));
  }
  [[nodiscard]] std::optional<LineProgram> ProgramOf(const LineUnit& unit,
                                                     const LineSequence& sequence) const {
    const auto scale = ScaleOf(unit);
    if (!scale) return std::nullopt;
    return format::ReadLineProgram(
        base::Bytes(bytes).subspan(sequence.begin, sequence.end - sequence.begin), *scale,
        kMostRows);
  }
};

std::optional<TableOfView> ReadTable(const PassResults& passes, SectionId section) {
  TableOfView out{BytesOf(passes.program.sections[section]), {}, FunctionFieldsOf(passes, section)};
  auto table = format::LineTable::Read(out.bytes);
  if (!table || !table->is_plain()) return std::nullopt;
  out.table = *std::move(table);
  return out;
}

// Where Mercury code lies as machine code, as far as it is known: instructions, in their order.
class CodePlaces {
 public:
  struct Instruction {
    std::uint64_t mercury = 0;
    std::uint64_t sass = 0;
  };

  // The function's first place, and where its code ends.
  explicit CodePlaces(std::uint64_t size) : size_(size), known_{Instruction{}} {}

  // As if code were where Mercury's is: places that rows have.
  static CodePlaces OfRows(const LineProgram& mercury) {
    CodePlaces out(mercury.end);
    out.marks_begin_ = false;
    for (const LineRow& row : mercury.rows) {
      if (row.place > out.known_.back().mercury) out.known_.push_back({row.place, row.place});
    }
    return out;
  }

  // One behind all that are known. Instructions between the two are known as well where they can
  // only be all of one size.
  void Add(const Instruction& next) {
    constexpr std::uint64_t kSize = format::kInstructionSize;
    const Instruction last = known_.back();
    const bool is_behind = next.mercury > last.mercury && next.sass > last.sass;
    if (!is_behind || next.sass >= size_) return;
    const std::uint64_t count = (next.sass - last.sass) / kSize;
    for (const std::uint64_t size : {kSize, 2 * kSize}) {
      if (next.mercury - last.mercury != count * size) continue;
      for (std::uint64_t i = 1; i < count; ++i) {
        known_.push_back({last.mercury + i * size, last.sass + i * kSize});
      }
    }
    known_.push_back(next);
  }
  void SetMercurySize(std::uint64_t size) { mercury_size_ = size; }

  [[nodiscard]] const std::vector<Instruction>& known() const { return known_; }
  // Whether the function's beginning has a row besides.
  [[nodiscard]] bool marks_begin() const { return marks_begin_; }
  // Where code ends that ends there in the Mercury view.
  [[nodiscard]] std::uint64_t EndFor(std::uint64_t mercury) const {
    const auto found = std::ranges::lower_bound(known_, mercury, {}, &Instruction::mercury);
    const bool is_behind = mercury_size_ && mercury >= *mercury_size_;
    return is_behind || found == known_.end() ? size_ : found->sass;
  }

 private:
  std::uint64_t size_ = 0;
  std::optional<std::uint64_t> mercury_size_;
  bool marks_begin_ = true;
  std::vector<Instruction> known_;
};

// Whether machine code has a row for where the function begins and one for its first instruction:
// where a row says more of the first place than that the function begins there.
bool BeginsTwice(const LineProgram& mercury) {
  for (const LineRow& row : mercury.rows) {
    if (row.place != mercury.rows.front().place) return false;
    if (!row.begins_function) return true;
  }
  return false;
}

// Rows of the code at the places, as Mercury's rows say them: an instruction has a row where its
// line is another than that of the one in front of it, its file, or what is inlined there. Rows
// that call inlined code are written in front of the first one that needs them, and are numbered
// anew.
class RowsOfCode {
 public:
  static LineProgram Make(const LineProgram& mercury, const CodePlaces& places) {
    RowsOfCode rows(mercury);
    rows.Run(places);
    for (const format::LineInstruction& instruction : mercury.before_end) {
      if (!format::StateSetBy(instruction)) rows.out_.before_end.push_back(instruction);
    }
    rows.out_.end = places.EndFor(mercury.end);
    return std::move(rows.out_);
  }

 private:
  // By LineState, the instructions that set it; null: nothing does.
  using State = std::array<const format::LineInstruction*, format::kLineStates>;
  struct Row {
    const LineRow* mercury = nullptr;
    State state = {};
    std::uint64_t caller = 0;  // its number in the Mercury view, from 1 on; 0: none
    std::uint64_t number = 0;  // that it has now; 0: it is not written so far
  };

  explicit RowsOfCode(const LineProgram& mercury) : begins_twice_(BeginsTwice(mercury)) {
    State state = {};
    for (const LineRow& row : mercury.rows) {
      for (const format::LineInstruction& instruction : row.before) {
        if (const auto set = format::StateSetBy(instruction))
          state[static_cast<std::size_t>(*set)] = &instruction;
      }
      const format::LineInstruction* inlined = state[kInlined];
      const std::uint64_t caller =
          inlined == nullptr ? 0 : format::CallingRow(*inlined).value_or(0);
      // Only rows in front can have called it.
      rows_.push_back({&row, state, caller <= rows_.size() ? caller : 0, 0});
    }
  }
  static constexpr auto kInlined = static_cast<std::size_t>(format::LineState::kInlined);

  static bool AreEqual(const format::LineInstruction* a, const format::LineInstruction* b) {
    return a == b || (a != nullptr && b != nullptr && *a == *b);
  }
  static bool SayTheSame(const Row& a, const Row& b) {
    return a.mercury->line == b.mercury->line && std::ranges::equal(a.state, b.state, AreEqual);
  }

  void Run(const CodePlaces& places) {
    std::size_t next = 0;
    const Row* last = nullptr;
    for (const CodePlaces::Instruction& instruction : places.known()) {
      const std::size_t first = next;
      while (next < rows_.size() && rows_[next].mercury->place <= instruction.mercury) {
        for (const format::LineInstruction& other : rows_[next].mercury->before) {
          if (!format::StateSetBy(other)) others_.push_back(other);
        }
        ++next;
      }
      if (next == first) continue;
      Row& row = rows_[next - 1];
      if (last != nullptr && SayTheSame(row, *last)) continue;
      WriteWithCallers(row, instruction.sass);
      if (last == nullptr && begins_twice_ && places.marks_begin()) {
        const LineRow& begin = out_.rows.front();
        out_.rows.push_back({{}, begin.place, begin.line, false});
        row.number = out_.rows.size();
      }
      last = &row;
    }
  }

  void WriteWithCallers(Row& row, std::uint64_t place) {
    std::vector<Row*> callers;
    for (std::uint64_t caller = row.caller; caller != 0;) {
      Row& calling = rows_[caller - 1];
      if (calling.number != 0) break;
      callers.push_back(&calling);
      caller = calling.caller;
    }
    for (auto calling = callers.rbegin(); calling != callers.rend(); ++calling) {
      Write(**calling, place);
    }
    Write(row, place);
  }
  void Write(Row& row, std::uint64_t place) {
    LineRow out{std::exchange(others_, {}), place, row.mercury->line, false};
    for (std::size_t s = 0; s < row.state.size(); ++s) {
      if (row.state[s] == nullptr) continue;
      format::LineInstruction says =
          s == kInlined && row.caller != 0
              ? format::WithCallingRow(*row.state[s], rows_[row.caller - 1].number)
              : *row.state[s];
      if (said_[s] == says) continue;
      out.before.push_back(says);
      said_[s] = std::move(says);
    }
    out_.rows.push_back(std::move(out));
    row.number = out_.rows.size();
  }

  const bool begins_twice_;
  std::vector<Row> rows_;  // all of the Mercury view's
  std::vector<format::LineInstruction> others_;
  std::array<format::LineInstruction, format::kLineStates> said_;
  LineProgram out_;
};

class LineRemaker {
 public:
  LineRemaker(const ViewsOfLines& views, SectionId table)
      : views_(views), program_(views.sass.program), table_(table) {
    for (const FunctionId f : views.hidden) {
      if (views.pairs.functions[f] != kNone) hidden_.insert(views.pairs.functions[f]);
    }
  }

  format::RemadeSequences Run() {
    if (!IsNeeded()) return {};
    const SectionId mercury = MercuryOf(table_);
    if (mercury == kNone) return {};
    const auto own = ReadTable(views_.mercury, mercury);
    const auto sass = ReadTable(views_.sass, table_);
    if (!own || !sass || own->table.units().size() != sass->table.units().size()) return {};
    FindCode();
    for (std::size_t unit = 0; unit < sass->table.units().size(); ++unit) {
      RemakeUnit(*own, own->table.units()[unit], *sass, sass->table.units()[unit]);
    }
    return std::move(out_);
  }

 private:
  [[nodiscard]] InputId InputAt(SectionId table, std::uint64_t offset) const {
    const auto bases = views_.pairs.line_bases.find(table);
    return bases == views_.pairs.line_bases.end() ? kNone : bases->second.InputAt(offset);
  }
  // Whether lines that came there are to be made anew.
  [[nodiscard]] bool AreForeign(SymbolId function, InputId from) const {
    const Symbol& symbol = program_.symbols[function];
    return symbol.input != from || hidden_.contains(symbol.function);
  }
  // Most links have no such lines: nothing is read for those.
  [[nodiscard]] bool IsNeeded() const {
    return std::ranges::any_of(views_.sass.relocated.kept, [&](const KeptRelocation& kept) {
      return program_.sections[kept.list].owner == table_ &&
             program_.symbols[kept.symbol].function != kNone &&
             AreForeign(kept.symbol, InputAt(table_, kept.offset));
    });
  }
  [[nodiscard]] SectionId MercuryOf(SectionId sass) const {
    const auto& sections = views_.pairs.sections;
    const auto found = std::ranges::find(sections, sass);
    return found == sections.end() ? kNone : static_cast<SectionId>(found - sections.begin());
  }

  void RemakeUnit(const TableOfView& mercury, const LineUnit& mercury_unit, const TableOfView& sass,
                  const LineUnit& unit) {
    base::HashMap<SymbolId, LineSequence> from;
    for (const LineSequence& sequence : mercury.table.SequencesOf(mercury_unit)) {
      const auto function = mercury.FunctionOf(sequence);
      if (function) from.try_emplace(views_.pairs.symbols[*function], sequence);
    }
    const auto scale = sass.ScaleOf(unit);
    if (!scale) return;
    for (const LineSequence& sequence : sass.table.SequencesOf(unit)) {
      const auto function = sass.FunctionOf(sequence);
      if (!function || !AreForeign(*function, InputAt(table_, sequence.begin))) continue;
      const auto found = from.find(*function);
      if (found == from.end()) continue;
      const auto program = mercury.ProgramOf(mercury_unit, found->second);
      from.erase(found);  // once: who repeats sequences could make it long
      if (!program) continue;
      auto bytes = format::WriteLineProgram(Remade(*program, *function), *scale);
      if (bytes.size() >= format::kSetAddressSize) out_[sequence.begin] = std::move(bytes);
    }
  }

  [[nodiscard]] LineProgram Remade(const LineProgram& mercury, SymbolId symbol) const {
    if (!hidden_.contains(program_.symbols[symbol].function)) {
      return RowsOfCode::Make(mercury, PlacesOf(symbol));
    }
    LineProgram out = RowsOfCode::Make(mercury, CodePlaces::OfRows(mercury));
    out.end = out.rows.empty() ? 0 : out.rows.back().place;
    return out;
  }

  // The tables that have a row for each instruction, more or less: where the code that stays is in
  // them.
  void FindCode() {
    const auto& all = views_.pairs.line_bases;
    const auto table = std::ranges::find_if(all, [&](const auto& of) {
      return program_.sections[of.first].name == format::section_name::kSassLine;
    });
    if (table == all.end() || MercuryOf(table->first) == kNone) return;
    auto own = ReadTable(views_.mercury, MercuryOf(table->first));
    auto sass = ReadTable(views_.sass, table->first);
    if (!own || !sass || own->table.units().size() != sass->table.units().size()) return;
    for (std::uint32_t unit = 0; unit < sass->table.units().size(); ++unit) {
      const LineUnit& rows = sass->table.units()[unit];
      const InputId input = InputAt(table->first, rows.begin);
      for (const LineSequence& sequence : sass->table.SequencesOf(rows)) {
        const auto function = sass->FunctionOf(sequence);
        if (!function || program_.symbols[*function].input != input) continue;
        code_.try_emplace(*function, CodeRows{.unit = unit, .sass = sequence, .mercury = {}});
      }
      for (const LineSequence& sequence : own->table.SequencesOf(own->table.units()[unit])) {
        const auto function = own->FunctionOf(sequence);
        const auto code = function ? code_.find(views_.pairs.symbols[*function]) : code_.end();
        if (code != code_.end() && code->second.unit == unit) code->second.mercury = sequence;
      }
    }
    mercury_instructions_ = *std::move(own);
    sass_instructions_ = *std::move(sass);
  }

  // By what the input of the function's code says of its instructions.
  [[nodiscard]] CodePlaces PlacesOf(SymbolId symbol) const {
    const SectionId text = program_.functions[program_.symbols[symbol].function].text;
    CodePlaces out(text == kNone ? 0 : program_.sections[text].size);
    const auto code = code_.find(symbol);
    if (code == code_.end()) return out;
    const auto& [unit, to, from] = code->second;
    const auto sass = sass_instructions_.ProgramOf(sass_instructions_.table.units()[unit], to);
    const auto mercury =
        mercury_instructions_.ProgramOf(mercury_instructions_.table.units()[unit], from);
    if (sass && mercury) AddPlaces(*mercury, *sass, out);
    return out;
  }
  // Each place of Mercury's has a row of machine code.
  static void AddPlaces(const LineProgram& mercury, const LineProgram& sass, CodePlaces& out) {
    std::vector<std::uint64_t> places;
    for (const LineRow& row : mercury.rows) {
      if (places.empty() || places.back() != row.place) places.push_back(row.place);
    }
    const std::size_t begin = BeginsTwice(mercury) ? 1 : 0;
    if (places.size() + begin != sass.rows.size()) return;
    for (std::size_t i = 0; i < places.size(); ++i) {
      out.Add({places[i], sass.rows[i + begin].place});
    }
    out.SetMercurySize(mercury.end);
  }

  const ViewsOfLines& views_;
  const Program& program_;
  const SectionId table_;
  base::HashSet<FunctionId> hidden_;  // of machine code
  // Rows of a function's code, in the tables of instructions.
  struct CodeRows {
    std::uint32_t unit = 0;
    LineSequence sass;
    LineSequence mercury;
  };
  base::HashMap<SymbolId, CodeRows> code_;
  TableOfView mercury_instructions_;
  TableOfView sass_instructions_;
  format::RemadeSequences out_;
};

}  // namespace

format::RemadeSequences RemakeLines(const ViewsOfLines& views, SectionId table) {
  return LineRemaker(views, table).Run();
}

}  // namespace devlink::internal
