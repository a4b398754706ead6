// SPDX-License-Identifier: Apache-2.0
//
// `.nv.info`: a list of tagged records, for the whole module or for one function.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/bounded_reader.h"

namespace devlink::format {

// Record formats.
inline constexpr std::uint8_t kInfoNoValue = 1;
inline constexpr std::uint8_t kInfoByteValue = 2;
inline constexpr std::uint8_t kInfoHalfValue = 3;
inline constexpr std::uint8_t kInfoSized = 4;

// Attributes that a link looks at. All others are copied.
inline constexpr std::uint8_t kAttrError = 0x00;  // no file has one
inline constexpr std::uint8_t kAttrCtaidzUsed = 0x04;
inline constexpr std::uint8_t kAttrParamCbank = 0x0a;
inline constexpr std::uint8_t kAttrExterns = 0x0f;
inline constexpr std::uint8_t kAttrFrameSize = 0x11;
inline constexpr std::uint8_t kAttrMinStackSize = 0x12;
inline constexpr std::uint8_t kAttrBindlessTextureBank = 0x15;
inline constexpr std::uint8_t kAttrBindlessSurfaceBank = 0x16;
inline constexpr std::uint8_t kAttrKparamInfo = 0x17;
inline constexpr std::uint8_t kAttrCbankParamSize = 0x19;
inline constexpr std::uint8_t kAttrMaxRegCount = 0x1b;
inline constexpr std::uint8_t kAttrCrsStackSize = 0x1e;
inline constexpr std::uint8_t kAttrMaxStackSize = 0x23;
inline constexpr std::uint8_t kAttrSamplerInit = 0x09;  // texmode_independent only
inline constexpr std::uint8_t kAttrRegCount = 0x2f;
inline constexpr std::uint8_t kAttrIndirectBranchTargets = 0x34;
inline constexpr std::uint8_t kAttrNumMbarriers = 0x38;
inline constexpr std::uint8_t kAttrReservedSmemUsed = 0x41;
inline constexpr std::uint8_t kAttrVrcCtaInitCount = 0x4a;
inline constexpr std::uint8_t kAttrNumBarriers = 0x4c;
inline constexpr std::uint8_t kAttrEntryFragments = 0x4f;
inline constexpr std::uint8_t kAttrSparseMmaMask = 0x50;
inline constexpr std::uint8_t kAttrTcgen05OneCta = 0x51;
inline constexpr std::uint8_t kAttrTcgen05TwoCta = 0x52;
inline constexpr std::uint8_t kAttrRegReconfig = 0x54;
inline constexpr std::uint8_t kAttrFinalizerOptions = 0x5a;  // of the Mercury view alone
inline constexpr std::uint8_t kAttrKparamInfoV2 = 0x45;      // of kernels with over 4 kB of them
inline constexpr std::uint8_t kAttrMark62 = 0x62;            // without a known name
inline constexpr std::uint8_t kAttrLanguage = 0x66;
inline constexpr std::uint8_t kAttrMask68 = 0x68;  // without a known name
inline constexpr std::uint8_t kAttrSass6b = 0x6b;  // these two, too; of machine code alone
inline constexpr std::uint8_t kAttrSass6d = 0x6d;

// The MIN_STACK_SIZE or CRS_STACK_SIZE of a kernel whose stack has no bound.
inline constexpr std::uint32_t kUnknownStackSize = 0xffffffff;

// One record. `value` is the value itself (formats 1 to 3) or the payload's length (format 4).
struct InfoRecord {
  std::uint8_t format = 0;
  std::uint8_t id = 0;
  std::uint16_t value = 0;
  base::Bytes payload;
};

// Walks the records of one section.
class InfoReader {
 public:
  explicit InfoReader(base::Bytes bytes) : reader_(bytes) {}

  // The next record; false at the end and where the bytes are not a record. `well_formed` tells
  // which.
  bool Next(InfoRecord& out);
  [[nodiscard]] bool well_formed() const { return well_formed_; }

 private:
  base::BoundedReader reader_;
  std::uint64_t offset_ = 0;
  bool well_formed_ = true;
};

// Which words of a sized record's payload are indices of symbols.
enum class InfoSymbols : std::uint8_t {
  kNone,
  kOne,            // the first word; a value follows
  kSectionSymbol,  // the same, and the symbol stands for a section
  kAll,            // every word
};

// What becomes of a callee's record in the records of an entry that reaches it.
enum class InfoTravel : std::uint8_t {
  kStays,
  kMark,            // the entry has it, too
  kMaximum,         // the largest value
  kSum,             // the sum over all callees
  kUnion,           // the values or'ed together
  kLastByte,        // the low byte of the one that arrived last
  kUndefinedNames,  // the names of functions that stay undefined are collected
  kWords,           // so are the words of the lists
  kMovedWords,      // the same, and the callee loses its list
};

// How a cubin with two views says it in both.
enum class InfoViews : std::uint8_t {
  kUnknown,     // not seen in enough cubins to tell
  kOne,         // one of the views alone
  kSame,        // in the same bytes
  kSameSize,    // in records of one size, which name places in the view's code among others
  kCodePlaces,  // as that many places in the view's code, a word each, in the same order
};

// InfoAttribute::payload of lists of words, and of words that are places of instructions, in order.
inline constexpr std::uint8_t kInfoWords = 0xff;
inline constexpr std::uint8_t kInfoPlaces = 0xfe;
// The same of records that have no payload, by their value: none, of 8 bits, of 16.
inline constexpr std::uint8_t kInfoMark = 0xfd;
inline constexpr std::uint8_t kInfoByte = 0xfc;
inline constexpr std::uint8_t kInfoHalf = 0xfb;

struct InfoAttribute {
  std::uint8_t id = 0;
  std::string_view name;  // `REGCOUNT`; empty where no 13.x toolkit has one
  // Bytes that its records, which are sized ones, have in every file seen, or one of the five
  // above; 0 where nothing is known.
  std::uint8_t payload = 0;
  InfoViews views = InfoViews::kUnknown;
  InfoSymbols symbols = InfoSymbols::kNone;
  InfoTravel travel = InfoTravel::kStays;
  std::uint8_t appended_as = kInfoNoValue;  // the format of a record that an entry did not have
};

// Whether the record has the format, the size and the form that those of its kind have, and a
// number that one can have, as far as is known.
bool HasFormOfKind(const InfoRecord& record);

// The row of an attribute; one that names nothing and stays for ids that no toolkit knows.
const InfoAttribute& FindInfoAttribute(std::uint8_t id);

// Those that travel, in the order in which a link with one entry appends them.
inline constexpr std::array<std::uint8_t, 14> kTravellingAttributes = {
    kAttrSparseMmaMask,   kAttrCtaidzUsed,    kAttrReservedSmemUsed, kAttrMark62,
    kAttrVrcCtaInitCount, kAttrTcgen05OneCta, kAttrTcgen05TwoCta,    kAttrNumBarriers,
    kAttrRegReconfig,     kAttrNumMbarriers,  kAttrExterns,          kAttrEntryFragments,
    kAttrLanguage,        kAttrMask68};

// What SPARSE_MMA_MASK has of itself where an entry had none.
inline constexpr std::uint16_t kSparseMmaMaskDefault = 0x8000;

// What KPARAM_INFO, or KPARAM_INFO_V2, says of one parameter. Textures, samplers and surfaces that
// a kernel takes as such (`.param .texref`) have a symbol each and lie nowhere; of all others the
// symbol is 0 (72,671 records of ptxas and nvlink -r).
struct KernelParameter {
  std::uint32_t symbol = 0;
  std::uint16_t ordinal = 0;
  std::uint16_t offset = 0;
  std::uint32_t size = 0;  // in bytes
  [[nodiscard]] bool IsTexture() const { return offset == 0xffff; }
};
KernelParameter ParameterOf(const InfoRecord& record);

// The leading words of a record's payload that are indices of symbols. Whoever reads them may rely
// on the loader, which refuses a record of another size or one that names a symbol that does not
// exist.
struct InfoSymbolRun {
  InfoSymbols kind = InfoSymbols::kNone;
  std::uint64_t count = 0;
};
InfoSymbolRun SymbolsOf(const InfoRecord& record);

// `REGCOUNT`; empty for ids that no 13.x toolkit names.
std::string_view InfoAttributeName(std::uint8_t id);

}  // namespace devlink::format
