// SPDX-License-Identifier: Apache-2.0
#include "nvjitlink/option_reader.h"

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "support/catch.h"

namespace devlink::nvjitlink {
namespace {

using Strings = std::vector<std::string>;

OptionReading Read(std::initializer_list<std::string_view> options) {
  return ReadOptions(std::vector<std::string_view>(options));
}

// Behind an -arch that is good.
OptionReading ReadOne(std::string_view option) { return Read({"-arch=sm_90", option}); }

TEST_CASE("nvJitLink: the target is a number, and what is behind it may count", "[nvjitlink]") {
  struct Row {
    std::string_view option;
    std::string_view target;
    std::string_view assembler;
  };
  for (const Row& row :
       {Row{"-arch=sm_90", "sm_90", "sm_90"}, Row{"-arch=sm_90a", "sm_90a", "sm_90a"},
        Row{"-arch=sm_100f", "sm_100f", "sm_100f"}, Row{"-arch=sm_90b", "sm_90", "sm_90b"},
        Row{"-arch=sm_75a", "sm_75", "sm_75a"}, Row{"-arch=sm_090", "sm_90", "sm_090"},
        Row{"-arch=sm_90,sm_75", "sm_90", "sm_90,sm_75"},
        Row{"-arch=sm_90 -lto", "sm_90", "sm_90 -lto"}}) {
    INFO(row.option);
    const OptionReading reading = Read({row.option});
    CHECK(reading.result == Result::kSuccess);
    CHECK(reading.options.target.Name() == row.target);
    CHECK(reading.options.assembler_target == row.assembler);
    CHECK_FALSE(reading.options.lto);
  }
  const OptionReading last = Read({"-arch=sm_75", "-arch=sm_90"});
  CHECK(last.options.target.Name() == "sm_90");
}

TEST_CASE("nvJitLink: a target that is none is refused, and says which", "[nvjitlink]") {
  struct Row {
    std::string_view option;
    Result result;
    std::string_view log;
  };
  for (const Row& row :
       {Row{"-arch=sm_70", Result::kUnsupportedArch,
            "ERROR NVJITLINK_ERROR_UNSUPPORTED_ARCH: unsupported architecture (compute_70)\n"},
        Row{"-arch=compute_53", Result::kUnsupportedArch,
            "ERROR NVJITLINK_ERROR_UNSUPPORTED_ARCH: unsupported architecture (compute_53)\n"},
        Row{"-arch=sm_-90", Result::kUnsupportedArch,
            "ERROR NVJITLINK_ERROR_UNSUPPORTED_ARCH: unsupported architecture (-arch=sm_-90)\n"},
        Row{"-arch=sm_99999999999", Result::kUnsupportedArch,
            "ERROR NVJITLINK_ERROR_UNSUPPORTED_ARCH: unsupported architecture "
            "(-arch=sm_99999999999)\n"},
        Row{"-arch=sm_101", Result::kUnrecognizedArch,
            "ERROR NVJITLINK_ERROR_UNRECOGNIZED_ARCH: unrecognized architecture (compute_101)\n"},
        Row{"-arch=sm_1", Result::kUnrecognizedArch,
            "ERROR NVJITLINK_ERROR_UNRECOGNIZED_ARCH: unrecognized architecture (compute_1)\n"},
        Row{"-arch=sm_XX", Result::kUnrecognizedOption,
            "ERROR NVJITLINK_ERROR_UNRECOGNIZED_OPTION: missing option value (-arch=sm_XX)\n"},
        Row{"-arch=native", Result::kUnrecognizedOption,
            "ERROR NVJITLINK_ERROR_UNRECOGNIZED_OPTION: missing option value (-arch=native)\n"},
        Row{"-arch", Result::kUnrecognizedOption, "unrecognized option: -arch\n"}}) {
    INFO(row.option);
    const OptionReading reading = Read({row.option});
    CHECK(reading.result == row.result);
    CHECK(reading.log == row.log);
  }
}

TEST_CASE("nvJitLink: some options are known by how they begin", "[nvjitlink]") {
  CHECK(ReadOne("-lto").options.lto);
  CHECK(ReadOne("-lto=false").options.lto);
  CHECK(ReadOne("-dlto").options.lto);
  CHECK(ReadOne("-r").options.relocatable);
  CHECK(ReadOne("-register-link-binaries=x").options.relocatable);
  CHECK(ReadOne("-time").options.time);
  CHECK(ReadOne("-verbosely").options.verbose);
  CHECK(ReadOne("-no-cache").result == Result::kSuccess);
  CHECK(ReadOne("").result == Result::kUnrecognizedOption);
  for (const std::string_view option : {"-g=1", "-gx", "-O33", "-O", "-v", "--lto", "-ftz", "x",
                                        "-device-stack-protector=true", "-nvvm-latest", "-lt"}) {
    INFO(option);
    const OptionReading reading = ReadOne(option);
    CHECK(reading.result == Result::kUnrecognizedOption);
    CHECK(reading.log == "unrecognized option: " + std::string(option) + "\n");
  }
}

TEST_CASE("nvJitLink: values are checked where NVIDIA's library checks them", "[nvjitlink]") {
  for (const std::string_view option :
       {"-maxrregcount=", "-Xptxas=", "-Xnvvm=", "-Ofc=", "-kernels-used=", "-variables-used=",
        "-split-compile-extended="}) {
    INFO(option);
    const OptionReading reading = ReadOne(option);
    CHECK(reading.result == Result::kUnrecognizedOption);
    CHECK(reading.log.find("missing option value (") != std::string::npos);
  }
  CHECK(ReadOne("-O1").log == "unsupported value of -O: 1. Only 0 and 3 are supported.\n");
  CHECK(ReadOne("-Ofc=bad").log.starts_with("unsupported value of --Ofast-compile (-Ofc): bad."));
  CHECK(ReadOne("-split-compile=-1").log == "argument for -split-compile must be non-negative.\n");
  CHECK(ReadOne("-split-compile=abc").options.split_compile == 0);
  CHECK(ReadOne("-split-compile=").result == Result::kSuccess);
  CHECK(ReadOne("-uidx=x").result == Result::kInvalidInput);
}

TEST_CASE("nvJitLink: words for the compilers keep their order", "[nvjitlink]") {
  const OptionReading reading =
      Read({"-verbose", "-O3", "-arch=sm_90", "-Xptxas=-O1", "-maxrregcount=32", "-ftz=true", "-g",
            "-lineinfo", "-Ofc=max", "-Xnvvm=-opt=1", "-optimize-unused-variables", "-verbose"});
  REQUIRE(reading.result == Result::kSuccess);
  CHECK(reading.options.assembler_words ==
        Strings{"-v", "-O3", "-O1", "-maxrregcount=32", "-g", "-lineinfo", "-Ofc=max"});
  CHECK(reading.options.nvvm_words ==
        Strings{"-opt=3", "-ftz=true", "-opt=1", "-optimize-unused-variables"});
  CHECK(reading.options.max_registers == 32);
}

TEST_CASE("nvJitLink: what is missing or contradictory comes last", "[nvjitlink]") {
  CHECK(Read({"-lto"}).result == Result::kMissingArch);
  CHECK(Read({"-lto"}).log.empty());
  CHECK(Read({"-ptx", "-foo"}).log == "unrecognized option: -foo\n");
  CHECK(Read({"-ptx"}).result == Result::kMissingArch);
  CHECK(Read({"-arch=compute_90", "-ptx"}).log == "ERROR: -ptx requires -lto\n");
  CHECK(Read({"-arch=compute_90", "-lto"}).log == "ERROR: virtual arch requires -ptx\n");
  CHECK(Read({"-arch=compute_90", "-lto"}).result == Result::kIncompatibleOptions);
  CHECK(Read({"-arch=compute_90", "-lto", "-ptx"}).result == Result::kSuccess);
}

}  // namespace
}  // namespace devlink::nvjitlink
