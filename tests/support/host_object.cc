// SPDX-License-Identifier: Apache-2.0
#include "support/host_object.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "support/cubin_view.h"

namespace devlink::testing {
namespace {

constexpr std::uint32_t kFatbinMagic = 0xba55ed50;
constexpr std::uint32_t kSegmentMagic = 0x466243b1;
constexpr std::size_t kFatbinHeader = 16;
constexpr std::size_t kMemberHeader = 64;
constexpr std::size_t kElfHeader = 64;
constexpr std::size_t kSectionHeader = 64;
constexpr std::uint16_t kKindElf = 2;

template <typename T>
void Put(std::string& out, std::type_identity_t<T> value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <typename T>
T Get(std::span<const std::uint8_t> bytes, std::size_t offset) {
  T value = 0;
  if (offset + sizeof value <= bytes.size()) {
    std::memcpy(&value, bytes.data() + offset, sizeof value);
  }
  return value;
}

void Pad(std::string& out) { out.resize((out.size() + 7) / 8 * 8); }

std::string MakeFatbin(std::span<const std::uint8_t> cubin, int sm) {
  std::string payload(cubin.begin(), cubin.end());
  Pad(payload);
  std::string out;
  Put<std::uint32_t>(out, kFatbinMagic);
  Put<std::uint16_t>(out, 1);
  Put<std::uint16_t>(out, kFatbinHeader);
  Put<std::uint64_t>(out, kMemberHeader + payload.size());
  Put<std::uint16_t>(out, kKindElf);
  Put<std::uint16_t>(out, 0x101);
  Put<std::uint32_t>(out, kMemberHeader);
  Put<std::uint64_t>(out, payload.size());
  Put<std::uint32_t>(out, 0);  // compressed size
  Put<std::uint32_t>(out, 0);
  Put<std::uint32_t>(out, 0x90000);  // version of the code
  Put<std::uint32_t>(out, static_cast<std::uint32_t>(sm));
  Put<std::uint32_t>(out, 0);  // file name: offset and length
  Put<std::uint32_t>(out, 0);
  Put<std::uint64_t>(out, 0x11);  // flags: 64-bit, for Linux
  Put<std::uint64_t>(out, 0);
  Put<std::uint64_t>(out, 0);
  return out + payload;
}

}  // namespace

std::vector<std::uint8_t> MakeHostObject(std::span<const std::uint8_t> cubin, int sm,
                                         const std::vector<HostSection>& sections) {
  const std::string fatbin = MakeFatbin(cubin, sm);
  return MakeHostObjectWithFatbin(
      {reinterpret_cast<const std::uint8_t*>(fatbin.data()), fatbin.size()}, sections);
}

std::vector<std::uint8_t> MakeHostObjectWithFatbin(std::span<const std::uint8_t> fatbin,
                                                   const std::vector<HostSection>& sections) {
  std::string segment;
  Put<std::uint32_t>(segment, kSegmentMagic);
  Put<std::uint32_t>(segment, 1);
  segment.append(16, '\0');
  std::vector<HostSection> all = {{"__nv_relfatbin", std::string(fatbin.begin(), fatbin.end())},
                                  {".nvFatBinSegment", segment},
                                  {"__nv_module_id", std::string("_test_module\0", 13)}};
  all.insert(all.end(), sections.begin(), sections.end());
  all.push_back({".shstrtab", ""});

  std::string names(1, '\0');
  std::string bytes;
  std::string headers(kSectionHeader, '\0');
  for (HostSection& section : all) {
    const bool is_names = section.name == ".shstrtab";
    const std::size_t name = names.size();
    names += section.name;
    names += '\0';
    if (is_names) section.bytes = names;
    Pad(bytes);
    Put<std::uint32_t>(headers, static_cast<std::uint32_t>(name));
    Put<std::uint32_t>(headers, is_names ? 3 : 1);  // SHT_STRTAB, SHT_PROGBITS
    Put<std::uint64_t>(headers, is_names ? 0 : 2);  // SHF_ALLOC
    Put<std::uint64_t>(headers, 0);
    Put<std::uint64_t>(headers, kElfHeader + bytes.size());
    Put<std::uint64_t>(headers, section.bytes.size());
    Put<std::uint64_t>(headers, 0);  // link, info
    Put<std::uint64_t>(headers, 8);
    Put<std::uint64_t>(headers, 0);
    bytes += section.bytes;
  }
  Pad(bytes);

  std::string out(
      "\x7f"
      "ELF\2\1\1",
      7);
  out.resize(16);
  Put<std::uint16_t>(out, 1);   // ET_REL
  Put<std::uint16_t>(out, 62);  // EM_X86_64
  Put<std::uint32_t>(out, 1);
  Put<std::uint64_t>(out, 0);
  Put<std::uint64_t>(out, 0);
  Put<std::uint64_t>(out, kElfHeader + bytes.size());
  Put<std::uint32_t>(out, 0);
  Put<std::uint16_t>(out, kElfHeader);
  Put<std::uint32_t>(out, 0);  // no program headers
  Put<std::uint16_t>(out, kSectionHeader);
  Put<std::uint16_t>(out, static_cast<std::uint16_t>(all.size() + 1));
  Put<std::uint16_t>(out, static_cast<std::uint16_t>(all.size()));
  out += bytes + headers;
  return {out.begin(), out.end()};
}

std::string ListBytes(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) {
    out += text;
    out += '\0';
  }
  return out.empty() ? std::string(1, '\0') : out;
}

std::vector<std::uint8_t> CubinOf(std::span<const std::uint8_t> object, int sm) {
  const CubinView view = ViewCubin(object);
  const ViewSection* fatbin = view.Find("__nv_relfatbin");
  if (fatbin == nullptr) return {};
  const auto data = fatbin->data;
  const std::size_t end = kFatbinHeader + Get<std::uint64_t>(data, 8);
  for (std::size_t at = kFatbinHeader; at + kMemberHeader <= std::min(end, data.size());) {
    const auto header = Get<std::uint32_t>(data, at + 4);
    const auto size = Get<std::uint64_t>(data, at + 8);
    if (header < kMemberHeader || at + header + size > data.size()) return {};
    if (Get<std::uint16_t>(data, at) == kKindElf &&
        Get<std::uint32_t>(data, at + 28) == static_cast<std::uint32_t>(sm)) {
      const auto payload = data.subspan(at + header, size);
      return {payload.begin(), payload.end()};
    }
    at += header + size;
  }
  return {};
}

std::vector<HostSection> HostReferenceSectionsOf(std::span<const std::uint8_t> object) {
  std::vector<HostSection> out;
  const CubinView view = ViewCubin(object);
  for (const ViewSection& section : view.sections) {
    if (!section.name.starts_with(".nvHR")) continue;
    out.push_back({section.name, std::string(section.data.begin(), section.data.end())});
  }
  return out;
}

}  // namespace devlink::testing
