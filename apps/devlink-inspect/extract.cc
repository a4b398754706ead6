// SPDX-License-Identifier: Apache-2.0
#include "devlink-inspect/extract.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/file.h"
#include "base/strings.h"

namespace devlink::inspect {

namespace {

constexpr std::size_t kLongestName = 200;

bool IsHarmless(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("._-+=@,#").find(c) != std::string_view::npos;
}

}  // namespace

std::string FileNameFor(std::string_view input, std::string_view address) {
  std::string out = std::filesystem::path(input).filename().string();
  if (!address.empty()) out += base::Cat({".", address});
  for (char& c : out) {
    if (c == ':') c = '.';
    if (!IsHarmless(c)) c = '_';
  }
  // The end says what it is. No hidden files, no options.
  if (out.size() > kLongestName) out.erase(0, out.size() - kLongestName);
  if (out.empty() || std::isalnum(static_cast<unsigned char>(out.front())) == 0) {
    out.insert(out.begin(), 'x');
  }
  return out;
}

Extractor::Extractor(ExtractOptions options, Say written, Say wrong)
    : options_(std::move(options)), written_(std::move(written)), wrong_(std::move(wrong)) {}

absl::Status Extractor::Open() {
  const char* path = options_.directory.c_str();
  if (mkdir(path, 0777) != 0 && errno != EEXIST) {
    return absl::ErrnoToStatus(
        errno, base::ToAbsl(base::Cat({"Could not make the folder '", options_.directory, "'"})));
  }
  directory_ = base::Descriptor(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory_.get() < 0) {
    return absl::ErrnoToStatus(
        errno, base::ToAbsl(base::Cat({"Could not open the folder '", options_.directory, "'"})));
  }
  return absl::OkStatus();
}

void Extractor::BeginFile(std::string_view path) {
  file_ = path;
  any_ = false;
}

void Extractor::EndFile() {
  if (any_) return;
  if (options_.member == "all") {
    Problem("there is nothing in it to take out");
  } else {
    Problem(base::Cat({"there is no '", options_.member, "' in it"}));
  }
}

void Extractor::TellProblem(std::string_view text) {
  std::string where = file_;
  if (!addresses_.empty() && !addresses_.back().empty()) where += ":" + addresses_.back();
  wrong_(base::Cat({"'", where, "': ", text}));
}

bool Extractor::IsWanted(std::string_view address, bool is_code) const {
  if (address.empty()) return false;  // the file itself
  if (options_.member == "all") return is_code;
  return address == options_.member || address.ends_with(":" + options_.member);
}

void Extractor::Contents(std::span<const std::uint8_t> bytes, bool is_code) {
  const std::string& address = addresses_.back();
  if (!IsWanted(address, is_code)) return;
  any_ = true;
  const std::string first = FileNameFor(file_, address);
  std::string name = first;
  for (int i = 2; !names_.insert(name).second; ++i) {
    name = base::Cat({std::to_string(i), ".", first});
  }
  const int error = Write(name, bytes);
  if (error == EEXIST) {
    Problem(
        base::Cat({"'", name, "' is in '", options_.directory, "' already (--force replaces it)"}));
  } else if (error != 0) {
    Problem(base::Cat({"could not write '", name, "': ", std::strerror(error)}));
  } else {
    written_(name);
  }
}

int Extractor::Write(const std::string& name, std::span<const std::uint8_t> bytes) const {
  if (options_.force && unlinkat(directory_.get(), name.c_str(), 0) != 0 && errno != ENOENT) {
    return errno;
  }
  // O_EXCL follows no link either.
  base::Descriptor file(
      openat(directory_.get(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (file.get() < 0) return errno;
  if (base::WriteAll(file.get(), bytes)) return 0;
  const int error = errno;
  (void)unlinkat(directory_.get(), name.c_str(), 0);
  return error;
}

}  // namespace devlink::inspect
