// SPDX-License-Identifier: Apache-2.0
//
// Every kind of content under every kind of name: what kNvlink says will happen, and what nvlink
// does.
#include <array>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>

#include "input/expand.h"
#include "support/catch.h"
#include "support/elf_builder.h"
#include "support/process.h"
#include "support/text.h"
#include "support/toolkit.h"

namespace devlink::testing {
namespace {

constexpr const char* kKernel =
    ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry kern() { ret; }\n";

// A half-word of the header changed.
ByteVector WithField(ByteVector bytes, std::size_t offset, std::uint16_t value) {
  bytes[offset] = static_cast<std::uint8_t>(value);
  bytes[offset + 1] = static_cast<std::uint8_t>(value >> 8);
  return bytes;
}

class Conformance {
 public:
  explicit Conformance(const Toolkit& toolkit) : toolkit_(toolkit) {}

  // False where the tools do not make what is needed.
  bool MakeContents();
  void Check(const std::string& label, const std::string& name, const ByteVector& bytes) const;

  std::map<std::string, ByteVector> contents;

 private:
  const Toolkit& toolkit_;
  TemporaryDirectory directory_;
};

bool Conformance::MakeContents() {
  const std::string ptx = directory_.File("k.ptx");
  const std::string cubin = directory_.File("k.rel");
  const std::string exec = directory_.File("k.exec");
  const std::string fatbin = directory_.File("k.fat");
  const std::string bin = toolkit_.nvlink.substr(0, toolkit_.nvlink.rfind('/'));
  if (!WriteText(ptx, kKernel) ||
      !RunProcess({toolkit_.ptxas, "-arch=sm_90", "-c", ptx, "-o", cubin}).ok() ||
      !RunProcess({toolkit_.ptxas, "-arch=sm_90", ptx, "-o", exec}).ok() ||
      !RunProcess({bin + "/fatbinary", "-64", "--create=" + fatbin,
                   "--image3=kind=elf,sm=90,file=" + cubin})
           .ok()) {
    return false;
  }
  const ByteVector code = *ReadBytes(fatbin);
  const std::string text = ToText(code);
  const auto host = [&](const ElfShape& shape) { return BuildHostObject(text, "_id", shape); };
  const ByteVector object = host({});
  const ByteVector filler = ToBytes(std::string(100, 'x'));
  contents["cubin"] = *ReadBytes(cubin);
  contents["executable cubin"] = *ReadBytes(exec);
  contents["fatbin"] = code;
  contents["PTX"] = ToBytes(kKernel);
  contents["LTO IR"] = ToBytes("\xed\x43\x4e\x7f" + std::string(200, 'x'));
  contents["bitcode"] = ToBytes("BC\xc0\xde" + std::string(200, 'x'));
  contents["nothing"] = {};
  contents["55 bytes"] = ToBytes(std::string(55, 'x'));
  contents["56 bytes"] = ToBytes(std::string(56, 'x'));
  contents["object"] = object;
  contents["object, cut"] = ByteVector(object.begin(), object.begin() + 200);
  contents["object for arm64"] = host({true, false, 183, 1});
  contents["object, 32 bits"] = host({false, false, 3, 1});
  contents["object, big-endian"] = host({true, true, 21, 1});
  contents["object, 32 bits, big-endian"] = host({false, true, 20, 1});
  contents["executable"] = host({true, false, 62, 2});
  contents["shared library"] = host({true, false, 62, 3});
  contents["object without device code"] = BuildElf({{".text", "\xc3"}});
  contents["object without wrapper"] = BuildElf({{"__nv_relfatbin", text}});
  contents["object with an empty section"] =
      BuildElf({{"__nv_relfatbin", ""}, {".nvFatBinSegment", "x"}});
  contents["object with garbage"] =
      BuildElf({{"__nv_relfatbin", std::string(100, 'x')}, {".nvFatBinSegment", "x"}});
  const ElfSection wrapper = {".nvFatBinSegment", std::string(24, '\0')};
  contents["object, wrapper only"] = BuildElf({wrapper});
  contents["object, whole program"] = BuildElf({{".nv_fatbin", text}, wrapper});
  contents["object, no names"] = WithField(object, 62, 0);
  contents["object, no section table"] = WithField(object, 40, 0);
  contents["object, other type"] = host({true, false, 62, 9});
  contents["archive, wrapper only"] =
      BuildArchive({{"w.o", contents["object, wrapper only"]}, {"h.o", object}});
  contents["archive"] = BuildArchive({{"h.o", object}});
  contents["archive, text behind"] = BuildArchive({{"h.o", object}, {"t", filler}});
  contents["archive, text before"] = BuildArchive({{"t", filler}, {"h.o", object}});
  contents["archive, damaged member before"] =
      BuildArchive({{"d.o", contents["object, cut"]}, {"h.o", object}});
  contents["archive of a cubin"] = BuildArchive({{"c.o", contents["cubin"]}});
  contents["archive, nothing in it"] = ToBytes("!<arch>\n");
  contents["thin archive, nothing in it"] = ToBytes("!<thin>\n");
  contents["archive, damaged"] = ToBytes("!<arch>\n" + std::string(60, ' '));
  return true;
}

void Conformance::Check(const std::string& label, const std::string& name,
                        const ByteVector& bytes) const {
  const std::string path = directory_.File(name);
  const std::string output = directory_.File("out");
  std::filesystem::remove(output);
  REQUIRE(WriteBytes(path, bytes));
  const ProcessResult run =
      RunProcess({toolkit_.nvlink, "-arch=sm_90", "-ignore-host-info", path, "-o", output},
                 std::chrono::seconds(20));
  std::filesystem::remove(path);
  const std::string linked = ReadText(output).value_or("");
  const bool has_kernel = linked.find(".text.kern") != std::string::npos;

  const internal::Expansion found =
      internal::ExpandInput(path, bytes, {Compatibility::kNvlink, false, nullptr});
  std::string said;
  for (Diagnostic diagnostic : found.diagnostics) {
    diagnostic.notes.clear();
    said += RenderDiagnostic(diagnostic, "nvlink");
  }
  CAPTURE(label, name, has_kernel, run.exit_status, found.blobs.size());
  CHECK(said == run.out + run.err);
  CHECK(found.fatal() == (run.exit_status != 0));
  CHECK(has_kernel == (!found.blobs.empty() && !found.fatal()));
}

TEST_CASE("Names and contents are taken as nvlink takes them", "[input][toolkit]") {
  const std::optional<Toolkit> toolkit = FindToolkit();
  if (!toolkit.has_value()) DEVLINK_SKIP("no CUDA toolkit");
  if (toolkit->release != "13.0") DEVLINK_SKIP("the rules are those of CUDA 13.0");
  Conformance conformance(*toolkit);
  REQUIRE(conformance.MakeContents());
  constexpr std::array<const char*, 15> kNames = {
      "in.cubin", "in.ptx", "in.fatbin", "in.nvvm",  "in.ltoir", "in.bc",  "in.so", "in.o",
      "in.a",     "in.bin", "in",        "in.CUBIN", "in.so.1",  "in.o.x", "in."};
  for (const auto& [label, bytes] : conformance.contents) {
    for (const char* name : kNames) conformance.Check(label, name, bytes);
  }
}

}  // namespace
}  // namespace devlink::testing
