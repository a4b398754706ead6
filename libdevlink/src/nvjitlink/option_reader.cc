// SPDX-License-Identifier: Apache-2.0
#include "nvjitlink/option_reader.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <utility>

#include "base/strings.h"
#include "devlink/experimental/cicc_option_builder.h"

namespace devlink::nvjitlink {

namespace {

constexpr std::array<int, 17> kRetired = {10, 11, 12, 13, 20, 21, 30, 32, 35,
                                          37, 50, 52, 53, 60, 61, 62, 70};

// As atoi: what stands behind the number does not count, and a text without one is 0.
std::int64_t NumberOf(std::string_view text) {
  return std::strtoll(std::string(text).c_str(), nullptr, /*base=*/10);
}

bool Take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

class OptionReader {
 public:
  OptionReading Run(std::span<const std::string_view> options) {
    for (const std::string_view option : options) {
      Read(option);
      if (reading_.result != Result::kSuccess) return std::move(reading_);
    }
    Check();
    return std::move(reading_);
  }

 private:
  void Fail(Result result, std::initializer_list<std::string_view> text) {
    reading_.result = result;
    reading_.log = base::Cat(text);
    if (!reading_.log.empty()) reading_.log += '\n';
  }
  void LacksValue(std::string_view option) {
    Fail(Result::kUnrecognizedOption,
         {"ERROR NVJITLINK_ERROR_UNRECOGNIZED_OPTION: missing option value (", option, ")"});
  }
  void IsUnknown(std::string_view option) {
    Fail(Result::kUnrecognizedOption, {"unrecognized option: ", option});
  }

  void Read(std::string_view option) {
    if (ReadFlag(option) || ReadWordOfNvvm(option)) return;
    std::string_view value = option;
    if (Take(value, "-arch=")) return ReadArch(option, value);
    if (Take(value, "-split-compile=")) {
      return ReadThreads(value, "-split-compile", options_.split_compile);
    }
    if (option.starts_with("-O") && option.size() == 3 && option[2] >= '0' && option[2] <= '9') {
      return ReadLevel(option);
    }
    if (option.starts_with("-uidx=")) has_index_file_ = true;
    const std::size_t equals = option.find('=');
    if (equals == std::string_view::npos) return IsUnknown(option);
    ReadValue(option, option.substr(0, equals), option.substr(equals + 1));
  }

  // Options that a text is by its beginning, whatever follows.
  bool ReadFlag(std::string_view option) {
    constexpr std::array<std::pair<std::string_view, bool Options::*>, 6> kFlags = {
        {{"-lto", &Options::lto},
         {"-dlto", &Options::lto},
         {"-ptx", &Options::ptx},
         {"-r", &Options::relocatable},
         {"-time", &Options::time},
         {"-verbose", &Options::verbose}}};
    for (const auto& [name, flag] : kFlags) {
      if (!option.starts_with(name)) continue;
      if (flag == &Options::verbose && !options_.verbose) {
        options_.assembler_words.emplace_back("-v");
      }
      options_.*flag = true;
      return true;
    }
    if (option.starts_with("-lineinfo")) {
      options_.line_info = true;
      options_.assembler_words.emplace_back(option);
      return true;
    }
    if (option == "-g") {
      options_.debug = true;
      options_.assembler_words.emplace_back(option);
      return true;
    }
    return option.starts_with("-no-cache");
  }

  // What libNVVM is left to judge.
  bool ReadWordOfNvvm(std::string_view option) {
    constexpr std::array<std::string_view, 6> kWords = {
        "-ftz=", "-prec-div=",           "-prec-sqrt=",
        "-fma=", "-jump-table-density=", "-optimize-unused-variables"};
    const bool is_word = std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) {
      return option.starts_with(word);
    });
    if (is_word) options_.nvvm_words.emplace_back(option);
    return is_word;
  }

  void ReadLevel(std::string_view option) {
    const std::string_view level = option.substr(2);
    if (level != "0" && level != "3") {
      return Fail(Result::kUnrecognizedOption,
                  {"unsupported value of -O: ", level, ". Only 0 and 3 are supported."});
    }
    options_.assembler_words.emplace_back(option);
    options_.nvvm_words.push_back(base::Cat({"-opt=", level}));
  }

  void ReadThreads(std::string_view value, std::string_view name, int& out) {
    const std::int64_t threads = NumberOf(value);
    if (threads < 0) {
      return Fail(Result::kUnrecognizedOption, {"argument for ", name, " must be non-negative."});
    }
    constexpr std::int64_t kMost = std::numeric_limits<int>::max();
    out = static_cast<int>(std::min(threads, kMost));
  }

  void ReadValue(std::string_view option, std::string_view name, std::string_view value) {
    constexpr std::array<std::string_view, 7> kNames = {
        "-maxrregcount", "-Ofc",   "-kernels-used",          "-variables-used",
        "-Xptxas",       "-Xnvvm", "-split-compile-extended"};
    if (name == "-uidx") return;
    if (std::find(kNames.begin(), kNames.end(), name) == kNames.end()) return IsUnknown(option);
    if (value.empty()) return LacksValue(option);
    if (name == "-maxrregcount") {
      options_.assembler_words.emplace_back(option);
      options_.max_registers =
          static_cast<int>(std::clamp<std::int64_t>(NumberOf(value), -1, 1000000));
    } else if (name == "-Ofc") {
      ReadFastCompile(value);
    } else if (name == "-kernels-used") {
      options_.kernels_used.emplace_back(value);
    } else if (name == "-variables-used") {
      options_.variables_used.emplace_back(value);
    } else if (name == "-Xptxas") {
      options_.assembler_words.emplace_back(value);
    } else if (name == "-Xnvvm") {
      options_.nvvm_words.emplace_back(value);
    } else {
      ReadThreads(value, name, options_.split_compile_extended);
    }
  }

  void ReadFastCompile(std::string_view value) {
    const auto level = ParseFastCompile(value);
    if (!level.ok()) {
      return Fail(Result::kUnrecognizedOption,
                  {"unsupported value of --Ofast-compile (-Ofc): ", value,
                   ". Only 0, min, mid, and max are supported."});
    }
    options_.fast_compile = *level;
    options_.assembler_words.push_back(base::Cat({"-Ofc=", value}));
  }

  void ReadArch(std::string_view option, std::string_view value) {
    const std::size_t underscore = std::min(value.find('_'), value.size());
    const std::string_view kind = value.substr(0, underscore);
    const std::string_view rest = value.substr(std::min(underscore + 1, value.size()));
    const bool is_real = kind == "sm";
    if (!is_real && kind != "compute" && kind != "lto") return LacksValue(option);
    char* end = nullptr;
    const std::string digits(rest);
    const std::int64_t number = std::strtoll(digits.c_str(), &end, /*base=*/10);
    if (end == digits.c_str()) return LacksValue(option);
    if (number <= 0 || number > std::numeric_limits<int>::max()) {
      return Fail(
          Result::kUnsupportedArch,
          {"ERROR NVJITLINK_ERROR_UNSUPPORTED_ARCH: unsupported architecture (", option, ")"});
    }
    constexpr std::int64_t kLargest = std::numeric_limits<std::uint16_t>::max();
    const Arch named{static_cast<std::uint16_t>(std::min(number, kLargest)), 0};
    const std::string name = named.VirtualName();
    if (std::find(kRetired.begin(), kRetired.end(), number) != kRetired.end()) {
      return Fail(
          Result::kUnsupportedArch,
          {"ERROR NVJITLINK_ERROR_UNSUPPORTED_ARCH: unsupported architecture (", name, ")"});
    }
    auto target = Arch::ParseVirtual(name);
    if (!target.ok() || !IsLinkTarget(*target)) {
      return Fail(
          Result::kUnrecognizedArch,
          {"ERROR NVJITLINK_ERROR_UNRECOGNIZED_ARCH: unrecognized architecture (", name, ")"});
    }
    // Behind the number a letter makes another target where there is one, and counts for nothing
    // otherwise.
    if (const auto special =
            Arch::ParseVirtual(base::Cat({name, std::string_view(end, *end != 0)}));
        special.ok()) {
      target = special;
    }
    options_.target = *target;
    options_.is_virtual = !is_real;
    options_.assembler_target = base::Cat({"sm_", rest});
    has_arch_ = true;
  }

  void Check() {
    if (!has_arch_) return Fail(Result::kMissingArch, {});
    if (options_.ptx && !options_.lto) {
      return Fail(Result::kIncompatibleOptions, {"ERROR: -ptx requires -lto"});
    }
    if (options_.is_virtual && !options_.ptx) {
      return Fail(Result::kIncompatibleOptions, {"ERROR: virtual arch requires -ptx"});
    }
    if (has_index_file_) {
      Fail(Result::kInvalidInput, {"ERROR: index files (-uidx) are not supported by libdevlink"});
    }
  }

  OptionReading reading_;
  Options& options_ = reading_.options;
  bool has_arch_ = false;
  bool has_index_file_ = false;
};

}  // namespace

OptionReading ReadOptions(std::span<const std::string_view> options) {
  return OptionReader().Run(options);
}

}  // namespace devlink::nvjitlink
