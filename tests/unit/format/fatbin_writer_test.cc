// SPDX-License-Identifier: Apache-2.0
#include "devlink/experimental/fatbin_writer.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "devlink/experimental/fatbin.h"
#include "format/elf_cuda.h"
#include "format/ptx_text.h"
#include "support/catch.h"

namespace devlink::testing {
namespace {

using Bytes = std::vector<std::uint8_t>;

// A section of `.nv.compat`'s type and nothing else.
Bytes CompatCubin() {
  const auto put = [](const auto& value, std::size_t at, Bytes& out) {
    REQUIRE(out.size() >= at + sizeof(value));
    std::memcpy(out.data() + at, &value, sizeof(value));
  };
  format::Ehdr header = {};
  header.ident[0] = 0x7f;
  header.ident[1] = 'E';
  header.ident[2] = 'L';
  header.ident[3] = 'F';
  header.ident[4] = 2;
  header.ident[8] = format::kAbiVersion;
  header.machine = format::kMachineCuda;
  header.flags = 100 << 8;
  header.shoff = sizeof(header);
  header.shnum = 1;
  format::Shdr section = {};
  section.type = format::kShtCudaCompat;
  section.offset = sizeof(header) + sizeof(section);
  section.size = 8;
  Bytes out(sizeof(header) + sizeof(section) + 8, 7);
  put(header, 0, out);
  put(section, sizeof(header), out);
  return out;
}

Bytes LtoIr(std::uint8_t key) {
  Bytes out(64, 3);
  const Bytes head = {0xed, 0x43, 0x4e, 0x7f, 1, 0x41};
  for (std::size_t i = 0; i < head.size(); ++i) out[i] = head[i];
  for (std::size_t i = 0x28; i < 0x2c; ++i) out[i] = key;
  return out;
}

Bytes Sample(FatbinCompressMode mode, bool all) {
  FatbinWriter writer({mode, all, false, "name"});
  REQUIRE(writer.AddPtx(".version 8.7\n.target sm_90a // x\n", {90, 'a'}, "-O3").ok());
  REQUIRE(writer.AddCubin(CompatCubin(), {100, 'f'}).ok());
  REQUIRE(writer.AddLtoIr(LtoIr(0), {80, 0}, "-ftz=1").ok());
  REQUIRE(writer.AddLtoIr(LtoIr(1), {80, 0}).ok());
  auto out = writer.Write();
  REQUIRE(out.ok());
  return *out;
}

TEST_CASE("What was written is read back", "[fatbin_writer]") {
  for (const auto mode : {FatbinCompressMode::kNone, FatbinCompressMode::kDefault,
                          FatbinCompressMode::kSize, FatbinCompressMode::kSpeed}) {
    for (const bool all : {false, true}) {
      CAPTURE(static_cast<int>(mode), all);
      const Bytes bytes = Sample(mode, all);
      const auto fatbin = Fatbin::Parse(bytes);
      REQUIRE(fatbin.ok());
      REQUIRE(fatbin->members().size() == 4);
      const FatbinMember& ptx = fatbin->members()[0];
      CHECK(ptx.kind == CodeKind::kPtx);
      CHECK(ptx.arch == Arch{90, 'a'});
      CHECK(ptx.options == "-O3");
      CHECK(ptx.ident == "name");
      CHECK(ptx.code_version_major == 8);
      CHECK(ptx.code_version_minor == 7);
      const Bytes text = *fatbin->Extract(ptx);
      CHECK(std::string(text.begin(), text.end()) == ".version 8.7\n.target sm_90a \n");
      const FatbinMember& cubin = fatbin->members()[1];
      CHECK(cubin.kind == CodeKind::kSass);
      CHECK(cubin.arch == Arch{100, 'f'});
      CHECK(cubin.has_compat_record);
      REQUIRE(cubin.extension.size() == 36);
      CHECK(cubin.extension[0] == 0);
      CHECK(cubin.extension[8] == 7);
      CHECK(cubin.extension[9] == 0);
      CHECK((*fatbin->Extract(cubin) == CompatCubin()));
      CHECK((*fatbin->Extract(fatbin->members()[2]) == LtoIr(0)));
      CHECK(fatbin->members()[2].options == "-ftz=1");
      // fatbinary would obfuscate this one.
      CHECK(fatbin->members()[3].compression == FatbinCompression::kNone);
      CHECK((*fatbin->Extract(fatbin->members()[3]) == LtoIr(1)));
      const bool packs = mode != FatbinCompressMode::kNone;
      CHECK((ptx.compression != FatbinCompression::kNone) == packs);
      CHECK((cubin.compression != FatbinCompression::kNone) ==
            (packs && (all || mode == FatbinCompressMode::kSize)));
    }
  }
}

TEST_CASE("A cubin of very many sections has its record, too", "[fatbin_writer]") {
  Bytes wide = CompatCubin();
  // Their number stands in the first of them.
  for (std::size_t i = 0; i < sizeof(format::Ehdr::shnum); ++i) {
    wide.at(offsetof(format::Ehdr, shnum) + i) = 0;
  }
  const auto size_of = [](const Bytes& cubin) {
    FatbinWriter writer({FatbinCompressMode::kNone, false, false, ""});
    REQUIRE(writer.AddCubin(cubin, {100, 0}).ok());
    return writer.Write().value_or(Bytes()).size();
  };
  CHECK(size_of(wide) > 0);
  CHECK(size_of(wide) == size_of(CompatCubin()));
}

TEST_CASE("The writer refuses what is not what it is said to be", "[fatbin_writer]") {
  FatbinWriter writer;
  CHECK(writer.Write().status().code() == absl::StatusCode::kFailedPrecondition);
  const auto refused = [](const absl::Status& status) {
    return status.code() == absl::StatusCode::kInvalidArgument;
  };
  CHECK(refused(writer.AddCubin(CompatCubin(), {90, 0})));
  CHECK(refused(writer.AddCubin(LtoIr(0), {90, 0})));
  CHECK(refused(writer.AddCubin({}, {90, 0})));
  CHECK(refused(writer.AddLtoIr(CompatCubin(), {90, 0})));
  CHECK(refused(writer.AddLtoIr({}, {90, 0})));
  CHECK(refused(writer.AddPtx("nothing", {90, 0})));
  CHECK(refused(writer.AddPtx(".version 9", {90, 0})));
  Bytes cut = CompatCubin();
  cut.resize(cut.size() - 1);  // its record cannot be read
  CHECK(writer.AddCubin(cut, {100, 0}).ok());
  CHECK_FALSE(Fatbin::Parse(*writer.Write())->members()[0].has_compat_record);
}

TEST_CASE("PTX is compacted as fatbinary does it", "[fatbin_writer]") {
  using format::CompactPtx;
  CHECK(CompactPtx("a  b\tc\t\td \t e  \n   f\n\t g\n") == "a b\tc\td e \nf\ng\n");
  CHECK(CompactPtx("a // c\nb /* x */ c\nd/* x\ny */e\n f /*z*/ \n") == "a \nb  c\nde\nf  \n");
  CHECK(CompactPtx("x \"a  b // c\" y\n\"q\\\"  r\" s  t") ==
        "x \"a  b // c\" y\n\"q\\\"  r\" s t");
  CHECK(CompactPtx("\"open  \n //") == "\"open  \n //");
  CHECK(CompactPtx("a /*/ b") == "a  b");
  CHECK(CompactPtx("a /* b") == "a ");
  CHECK(CompactPtx("a // b\r  c /") == "a \rc /");
  CHECK(CompactPtx("\\\"  a") == "\\\" a");
  CHECK(CompactPtx("").empty());
}

// All that damaged bytes may do is to be refused.
void Try(const Bytes& bytes, const FatbinLimits& limits) {
  const auto fatbin = Fatbin::Parse(bytes, limits);
  if (!fatbin.ok()) {
    CHECK(FatbinErrorOf(fatbin.status()) != Fatbin::Error::kNone);
    CHECK_FALSE(fatbin.status().message().empty());
    return;
  }
  for (const FatbinMember& member : fatbin->members()) {
    const auto code = fatbin->Extract(member);
    if (code.ok()) {
      CHECK(code->size() <= member.uncompressed_size);
    } else {
      CHECK(code.status().message().find("container 0, member") != std::string_view::npos);
    }
  }
}

TEST_CASE("Damaged fat binaries are refused", "[fatbin][damage]") {
  FatbinLimits limits;
  limits.max_uncompressed_size = 1 << 20;
  std::mt19937 random(1);  // NOLINT: the same damage every time
  for (const auto mode :
       {FatbinCompressMode::kNone, FatbinCompressMode::kSize, FatbinCompressMode::kSpeed}) {
    const Bytes good = Sample(mode, true);
    for (std::size_t size = 0; size < good.size(); ++size) {
      // A copy of just that size: a checked build sees whoever reads behind it.
      const Bytes cut(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
      CAPTURE(size);
      CHECK_FALSE(Fatbin::Parse(cut, limits).ok());
    }
    for (int i = 0; i < 5000; ++i) {
      Bytes bad = good;
      for (std::size_t n = 1 + random() % 4; n > 0; --n) {
        const std::size_t at = random() % bad.size();
        bad[at] = random() % 2 == 0 ? static_cast<std::uint8_t>(random())
                                    : static_cast<std::uint8_t>(bad[at] ^ 1U << random() % 8);
      }
      Try(bad, limits);
    }
  }
}

TEST_CASE("A member that claims too much is refused before it is decompressed",
          "[fatbin][damage]") {
  for (const auto mode : {FatbinCompressMode::kSize, FatbinCompressMode::kSpeed}) {
    Bytes bytes = Sample(mode, true);
    constexpr std::size_t kUncompressedSize = 16 + 0x38;
    bytes[kUncompressedSize + 4] = 1;  // 4 GiB more
    auto fatbin = Fatbin::Parse(bytes);
    REQUIRE(fatbin.ok());
    CHECK(FatbinErrorOf(fatbin->Extract(fatbin->members()[0]).status()) ==
          Fatbin::Error::kTooLarge);
    bytes[kUncompressedSize + 4] = 0;
    bytes[kUncompressedSize] ^= 1;
    fatbin = Fatbin::Parse(bytes);
    REQUIRE(fatbin.ok());
    const absl::Status status = fatbin->Extract(fatbin->members()[0]).status();
    CHECK(FatbinErrorOf(status) == Fatbin::Error::kUncompress);
    CHECK(std::string(status.message()).find("container 0, member 0 (offset 16)") !=
          std::string::npos);
  }
}

}  // namespace
}  // namespace devlink::testing
