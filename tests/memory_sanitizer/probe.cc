// SPDX-License-Identifier: Apache-2.0
//
// Shows of each library that it is instrumented, for scripts/memory-sanitizer:
//
//   devlink-memory-probe CASE written      ends with 0, and no report
//   devlink-memory-probe CASE unwritten    is ended by a report of the memory sanitizer
//
// What is not instrumented fails either way: its stores leave memory of which nobody knows that it
// is written, and from what it reads no report comes. So what is written goes to memory that nobody
// has written before, and of what is not written only compiled code of the library, not of its
// headers, decides something. The one exception is BLAKE3, which decides nothing: there it is what
// comes out.
#include <absl/container/flat_hash_map.h>
#include <absl/status/status.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <llvm/ADT/ArrayRef.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/Support/BLAKE3.h>
#include <llvm/Support/JSON.h>
#include <llvm/Support/xxhash.h>
#include <lz4.h>
#include <zstd.h>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <iomanip>
#include <iterator>
#include <memory>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace {

// Memory of the heap, whose state the compiler does not know; nobody has written it.
struct Free {
  void operator()(char* bytes) const { std::free(bytes); }
};
using Bytes = std::unique_ptr<char[], Free>;

Bytes Unwritten(std::size_t size) {
  char* bytes = static_cast<char*>(std::malloc(size));
  if (bytes == nullptr) throw std::bad_alloc();
  return Bytes(bytes);
}

// The text, in memory that is written or, but for its end, is not.
class Input {
 public:
  Input(std::string_view text, bool written)
      : bytes_(Unwritten(text.size() + 1)), size_(text.size()) {
    if (written) std::memcpy(bytes_.get(), text.data(), text.size());
    bytes_[text.size()] = '\0';
  }
  const char* data() const { return bytes_.get(); }
  std::size_t size() const { return size_; }
  std::string_view view() const { return {data(), size()}; }

 private:
  Bytes bytes_;
  std::size_t size_;
};

// A byte after the other: memcmp() is the C library's.
bool Same(const char* bytes, std::string_view expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (bytes[i] != expected[i]) return false;
  }
  return true;
}

std::string Text() {
  std::string text;
  for (int i = 0; i < 2000; ++i) text += std::to_string(i % 37 * i) + (i % 5 == 0 ? "\n" : " ");
  return text;
}

// --- Cases: whether the library does with what is written what it should
// ---------------------------

bool Cxx(bool written) {
  const Input path("/one/two/three.txt", written);
  if (std::filesystem::path(path.view()).filename() != "three.txt") return false;

  const Bytes digits = Unwritten(64);
  const auto end = std::to_chars(digits.get(), digits.get() + 64, 1234.0625);
  if (end.ec != std::errc() || !Same(digits.get(), "1234.0625")) return false;
  std::ostringstream stream;
  stream << std::setprecision(9) << 1234.0625 << ' ' << std::hex << 255;
  if (stream.str() != "1234.0625 ff") return false;
  try {
    throw std::runtime_error(stream.str());
  } catch (const std::exception& error) {
    return std::string_view(error.what()) == "1234.0625 ff";
  }
}

bool Abseil(bool written) {
  const Input number("48879", written);
  int value;  // written by the library alone
  const absl::string_view digits(number.data(), number.size());
  if (!absl::SimpleAtoi(digits, &value) || value != 48879) return false;

  // Digits are written to a buffer that only the library knows.
  if (absl::StrCat("a", value, "b", 0.5, absl::Hex(value)) != "a48879b0.5beef") return false;
  absl::flat_hash_map<std::string, int> map;
  const std::string text = Text();
  for (std::size_t i = 0; i < text.size(); i += 16) map.emplace(text.substr(0, i), 1);
  if (map.size() != (text.size() + 15) / 16) return false;
  return absl::DataLossError(text.substr(2, 3)).ToString() == "DATA_LOSS: 1 4";
}

bool LlvmJson(bool written) {
  const Input text(R"({"numbers": [1, 2.5], "name": "\u00e9"})", written);
  auto value = llvm::json::parse(llvm::StringRef(text.data(), text.size()));
  if (!value) {
    llvm::consumeError(value.takeError());
    return false;
  }
  const auto* object = value->getAsObject();
  return object != nullptr && object->getString("name") == llvm::StringRef("\xc3\xa9") &&
         object->getArray("numbers")->size() == 2;
}

bool LlvmXxhash(bool written) {
  const std::string text = Text();
  const Input input(text, written);
  // Each length has code of its own.
  for (const std::size_t size : {std::size_t{3}, std::size_t{12}, std::size_t{100}, text.size()}) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(input.data());
    const auto* expected = reinterpret_cast<const std::uint8_t*>(text.data());
    if (llvm::xxh3_64bits(llvm::ArrayRef(bytes, size)) !=
        llvm::xxh3_64bits(llvm::ArrayRef(expected, size))) {
      return false;
    }
  }
  return true;
}

bool LlvmBlake3(bool written) {
  const std::string text = Text();
  const Input input(text, written);
  llvm::BLAKE3 hasher;
  hasher.update(llvm::StringRef(input.data(), input.size()));
  // Written before, so that what is reported came through the library.
  llvm::BLAKE3Result<> result = {};
  hasher.final(result);
  bool all_zero = true;
  for (const std::uint8_t byte : result) all_zero = all_zero && byte == 0;
  if (all_zero) return false;

  llvm::BLAKE3Result<> again;  // written by the library alone
  hasher.final(again);
  return again == result;
}

bool LlvmDemangle(bool written) {
  const Input name("_ZN3one3twoIiEEvT_PKc", written);
  const Bytes demangled(llvm::itaniumDemangle(name.view()));
  return demangled != nullptr && Same(demangled.get(), "void one::two<int>(int, char const*)");
}

bool Lz4(bool written) {
  const std::string text = Text();
  const int bound = LZ4_compressBound(static_cast<int>(text.size()));
  const Bytes packed = Unwritten(static_cast<std::size_t>(bound));
  const int size =
      LZ4_compress_default(text.data(), packed.get(), static_cast<int>(text.size()), bound);
  if (size <= 0) return false;

  const Input input({packed.get(), static_cast<std::size_t>(size)}, written);
  const Bytes out = Unwritten(text.size());
  const int unpacked =
      LZ4_decompress_safe(input.data(), out.get(), size, static_cast<int>(text.size()));
  return unpacked == static_cast<int>(text.size()) && Same(out.get(), text);
}

bool Zstd(bool written) {
  const std::string text = Text();
  const std::size_t bound = ZSTD_compressBound(text.size());
  for (const int level : {1, 3, 19}) {
    const Bytes packed = Unwritten(bound);
    const std::size_t size = ZSTD_compress(packed.get(), bound, text.data(), text.size(), level);
    if (ZSTD_isError(size) != 0) return false;

    const Input input({packed.get(), size}, written);
    const Bytes out = Unwritten(text.size());
    const std::size_t unpacked =
        ZSTD_decompress(out.get(), text.size(), input.data(), input.size());
    if (unpacked != text.size() || !Same(out.get(), text)) return false;
  }
  return true;
}

struct Case {
  std::string_view name;
  bool (*run)(bool written);
};
constexpr Case kCases[] = {
    {"libc++", Cxx},
    {"Abseil", Abseil},
    {"LLVM-JSON", LlvmJson},
    {"LLVM-xxHash", LlvmXxhash},
    {"LLVM-BLAKE3", LlvmBlake3},
    {"LLVM-Demangle", LlvmDemangle},
    {"LZ4", Lz4},
    {"zstd", Zstd},
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  for (const Case& one : kCases) {
    if (one.name != argv[1]) continue;
    const bool right = one.run(argv[2] == std::string_view("written"));
    if (!right) std::fprintf(stderr, "%s: a wrong result\n", argv[1]);
    return right ? 0 : 1;
  }
  std::fprintf(stderr, "%s: no such case\n", argv[1]);
  return 2;
}
