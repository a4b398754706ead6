// SPDX-License-Identifier: Apache-2.0
//
// Recognition, host objects, archives and the register file, each by itself.

#include "input/archive.h"
#include "input/host_object.h"
#include "input/recognise.h"
#include "input/register_file.h"
#include "support/catch.h"
#include "support/elf_builder.h"

namespace devlink::testing {
namespace {

using internal::ContentKind;
using internal::Recognise;

ContentKind KindOf(const std::string& text) { return Recognise(ToBytes(text)); }

TEST_CASE("Bytes are recognised by what they are", "[input]") {
  CHECK(KindOf("") == ContentKind::kEmpty);
  CHECK(KindOf("!<arch>\n") == ContentKind::kArchive);
  CHECK(KindOf("!<thin>\nxx") == ContentKind::kThinArchive);
  CHECK(KindOf("!<arch>") == ContentKind::kUnknown);
  CHECK(KindOf(EmptyFatbin()) == ContentKind::kFatbin);
  CHECK(KindOf("\xed\x43\x4e\x7f...") == ContentKind::kLtoIr);
  CHECK(KindOf("BC\xc0\xde") == ContentKind::kLlvmBitcode);
  CHECK(KindOf("\xde\xc0\x17\x0b") == ContentKind::kLlvmBitcode);
  CHECK(KindOf("hello") == ContentKind::kUnknown);
  CHECK(KindOf(".version 8.0") == ContentKind::kPtx);
  CHECK(KindOf(" \t\r\n// a\n/* b * / */ // c\n.version 8.0") == ContentKind::kPtx);
  CHECK(KindOf("/*.version*/") == ContentKind::kUnknown);
  CHECK(KindOf("/*/.version*/.version") == ContentKind::kPtx);
  CHECK(KindOf("// .version") == ContentKind::kUnknown);
  CHECK(KindOf("/* .version") == ContentKind::kUnknown);
  CHECK(KindOf("x .version 8.0") == ContentKind::kUnknown);
  CHECK(KindOf(std::string("// \0\n.version 8.0", 16)) == ContentKind::kUnknown);
  CHECK(KindOf(std::string("/* \0 */.version 8.0", 19)) == ContentKind::kUnknown);
  CHECK(KindOf("\x7f"
               "ELF") == ContentKind::kHostOther);
}

TEST_CASE("ELF files are told apart in every class and byte order", "[input]") {
  for (const bool wide : {false, true}) {
    for (const bool big : {false, true}) {
      CAPTURE(wide, big);
      const auto kind = [&](std::uint16_t machine, std::uint16_t type) {
        return Recognise(BuildElf({}, {wide, big, machine, type}));
      };
      CHECK(kind(190, 1) == ContentKind::kCudaRelocatable);
      CHECK(kind(190, 2) == ContentKind::kCudaExecutable);
      CHECK(kind(190, 3) == ContentKind::kCudaOther);
      CHECK(kind(62, 1) == ContentKind::kHostRelocatable);
      CHECK(kind(183, 2) == ContentKind::kHostExecutable);
      CHECK(kind(3, 3) == ContentKind::kHostShared);
      CHECK(kind(62, 4) == ContentKind::kHostOther);
    }
  }
}

TEST_CASE("Host objects give what they carry, in every class and byte order", "[input]") {
  using namespace std::string_literals;
  for (const bool wide : {false, true}) {
    for (const bool big : {false, true}) {
      CAPTURE(wide, big);
      const ByteVector bytes = BuildElf({{"__nv_relfatbin", EmptyFatbin()},
                                         {".nvFatBinSegment", std::string(24, '\0')},
                                         {"__nv_module_id", "_a_b\0def x\0"s},
                                         {".nvHRKE", "k1\0k2\0"s},
                                         {".nvHRDI", "\0"s},
                                         {".nvHRCE", "c1"s}},
                                        {wide, big, 62, 1});
      const auto object = internal::ReadHostObject(bytes);
      REQUIRE(object.ok());
      REQUIRE(object->fatbins.size() == 1);
      CHECK(object->fatbins[0].size() == EmptyFatbin().size());
      CHECK(object->fatbins[0].data() > bytes.data());
      CHECK(object->fatbins[0].data() < bytes.data() + bytes.size());
      CHECK(object->has_wrapper);
      CHECK(object->big_endian == big);
      CHECK(object->module_ids.own == std::vector<std::string_view>{"_a_b", "def x"});
      CHECK(object->module_ids.prelinked.empty());
      CHECK(object->references.kernels_external.names == std::vector<std::string>{"k1", "k2"});
      CHECK_FALSE(object->references.kernels_internal.present);
      CHECK(object->references.variables_internal.present);
      CHECK(object->references.variables_internal.names.empty());
      CHECK(object->references.constants_external.names == std::vector<std::string>{"c1"});
      CHECK_FALSE(object->references.constants_internal.present);
    }
  }
}

TEST_CASE("Module ids: lists of what was linked before, empty and mixed ones", "[input]") {
  using namespace std::string_literals;
  const auto ids = [](const std::string& contents) {
    static ByteVector bytes;
    bytes = BuildElf({{"__nv_module_id", contents}});
    return internal::ReadHostObject(bytes)->module_ids;
  };
  CHECK(ids("def a\0def b\0"s).prelinked == std::vector<std::string_view>{"a", "b"});
  CHECK_FALSE(ids("def a\0def b\0"s).mixed);
  CHECK(ids("def a\0b\0"s).mixed);
  CHECK(ids("").own == std::vector<std::string_view>{""});
  CHECK(ids("x"s).own == std::vector<std::string_view>{"x"});
  const ByteVector none = BuildElf({});
  CHECK_FALSE(internal::ReadHostObject(none)->module_ids.present);
}

TEST_CASE("A damaged host object is an error that says where", "[input]") {
  ByteVector bytes = BuildHostObject(EmptyFatbin());
  bytes.resize(100);
  const auto object = internal::ReadHostObject(bytes);
  REQUIRE_FALSE(object.ok());
  CHECK(std::string(object.status().message()).find("damaged ELF: ") == 0);
  CHECK_FALSE(internal::ReadHostObject({}).ok());
}

TEST_CASE("Archives list their members in order", "[input]") {
  const ByteVector bytes =
      BuildArchive({{"a.o", ToBytes("odd")}, {"b.o", {}}, {"a.o", ToBytes("again")}});
  const auto archive = internal::ReadArchive("libx.a", bytes, nullptr);
  REQUIRE(archive.ok());
  REQUIRE(archive->members.size() == 3);
  CHECK_FALSE(archive->thin);
  CHECK(archive->members[0].name == "a.o");
  CHECK(archive->members[0].offset == 8);
  CHECK(archive->members[0].bytes.size() == 3);
  CHECK(archive->members[1].bytes.empty());
  CHECK(archive->members[2].name == "a.o");
  CHECK(archive->members[2].bytes[0] == 'a');
}

TEST_CASE("Members of thin archives are read beside the archive, each file once", "[input]") {
  const ByteVector bytes = BuildThinArchive({{"sub/a.o", 3}, {"/abs/b.o", 3}, {"sub/a.o", 3}});
  std::vector<std::string> asked;
  const auto read = [&](const std::string& path) -> absl::StatusOr<ByteVector> {
    asked.push_back(path);
    return ToBytes("x" + path);
  };
  const auto archive = internal::ReadArchive("dir/libx.a", bytes, read);
  REQUIRE(archive.ok());
  CHECK(archive->thin);
  REQUIRE(archive->members.size() == 3);
  CHECK(asked == std::vector<std::string>{"dir/sub/a.o", "/abs/b.o"});
  CHECK(archive->members[0].name == "sub/a.o");
  CHECK(archive->members[2].bytes.data() == archive->members[0].bytes.data());
}

TEST_CASE("What is wrong with an archive is said with its name", "[input]") {
  ByteVector bytes = BuildArchive({{"a.o", ToBytes("abcdef")}});
  bytes.resize(bytes.size() - 2);
  const auto cut = internal::ReadArchive("libx.a", bytes, nullptr);
  REQUIRE_FALSE(cut.ok());
  CHECK(std::string(cut.status().message()).find("'libx.a'") != std::string::npos);
  CHECK(std::string(cut.status().message()).find("offset 8") != std::string::npos);

  const ByteVector thin = BuildThinArchive({{"gone.o", 3}});
  const auto missing = internal::ReadArchive("d/libx.a", thin, nullptr);
  REQUIRE_FALSE(missing.ok());
  CHECK(absl::IsNotFound(missing.status()));
  CHECK(std::string(missing.status().message()).find("'d/gone.o'") != std::string::npos);
  CHECK(std::string(missing.status().message()).find("read_thin_members") != std::string::npos);
}

TEST_CASE("The register file lists first ids, then further ones", "[input]") {
  using internal::RegisterFileText;
  CHECK(RegisterFileText({}) == "#define NUM_PRELINKED_OBJECTS 0\n");
  CHECK(RegisterFileText({{{"a", "a2"}}, {}, {{"b"}}, {{""}}}) ==
        "#define NUM_PRELINKED_OBJECTS 4\nDEFINE_REGISTER_FUNC(a)\nDEFINE_REGISTER_FUNC(b)\n"
        "DEFINE_REGISTER_FUNC()\nDEFINE_REGISTER_FUNC(a2)\n");
  CHECK(RegisterFileText({{{"x1", "x2", "x3"}}, {{"y1", "y2", "y3"}}}) ==
        "#define NUM_PRELINKED_OBJECTS 6\nDEFINE_REGISTER_FUNC(x1)\nDEFINE_REGISTER_FUNC(y1)\n"
        "DEFINE_REGISTER_FUNC(y3)\nDEFINE_REGISTER_FUNC(y2)\nDEFINE_REGISTER_FUNC(x3)\n"
        "DEFINE_REGISTER_FUNC(x2)\n");
  CHECK(RegisterFileText({{{"x1", "x2"}}, {{"y1"}, true}, {{"z1", "z2"}}}, true) ==
        "#define NUM_PRELINKED_OBJECTS 4\nDEFINE_REGISTER_FUNC(z1)\nDEFINE_REGISTER_FUNC(x1)\n"
        "DEFINE_REGISTER_FUNC(z2)\nDEFINE_REGISTER_FUNC(x2)\n");
  CHECK(internal::MakeModuleId("/a/b2", "/c/a.o") == "_c_a_o");
  CHECK(internal::MakeModuleId("/a/b2", "d/libnm.a:no id.o") == "_a_b2_d_libnm_a_no_id_o");
  CHECK_FALSE(internal::KeepRegisterFile(std::nullopt, true));
  CHECK(internal::KeepRegisterFile("", true));
  CHECK_FALSE(internal::KeepRegisterFile("", false));
  CHECK(internal::KeepRegisterFile("DEFINE_REGISTER_FUNC(_x_cuda_device_runtime_y)", false));
}

}  // namespace
}  // namespace devlink::testing
