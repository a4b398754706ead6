// SPDX-License-Identifier: Apache-2.0
//
// The device-link steps of a build in one process, as a parallel build tool has them:
// link_many_targets sm_90 THREADS LIST
// Each line of LIST is a target: OUTPUT INPUT..., with spaces between. A library that many targets
// link is read and checked once; a target that fails leaves no file and does not stop the others.
#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "devlink/devlink.h"

namespace {

struct Target {
  std::string output;
  std::vector<std::string> inputs;
};

std::vector<Target> ReadTargets(std::istream& list) {
  std::vector<Target> targets;
  for (std::string line; std::getline(list, line);) {
    std::istringstream words(line);
    Target target;
    if (!(words >> target.output)) continue;
    target.inputs.assign(std::istream_iterator<std::string>(words), {});
    targets.push_back(std::move(target));
  }
  return targets;
}

// Nobody sees a part of a cubin, or an old one where the link failed.
bool Replace(const std::string& path, const std::vector<std::uint8_t>& bytes) {
  const std::string temporary = path + ".new";
  {
    std::ofstream out(temporary, std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes.data()),
              static_cast<std::streamsize>(bytes.size()));
    if (!out.flush()) {
      std::remove(temporary.c_str());
      return false;
    }
  }
  if (std::rename(temporary.c_str(), path.c_str()) == 0) return true;
  std::remove(temporary.c_str());
  return false;
}

class Build {
 public:
  explicit Build(devlink::Arch arch) : arch_(arch) {}

  // Links on so many threads; the number of targets that failed.
  std::size_t Run(const std::vector<Target>& targets, unsigned threads) {
    std::atomic<std::size_t> next = 0;
    std::atomic<std::size_t> failed = 0;
    const auto work = [&] {
      for (std::size_t i = next++; i < targets.size(); i = next++) {
        if (!Link(targets[i])) ++failed;
      }
    };
    std::vector<std::jthread> others;
    for (unsigned i = 1; i < threads; ++i) others.emplace_back(work);
    work();
    others.clear();
    return failed;
  }

 private:
  bool Link(const Target& target) {
    // One thread a link: the build is parallel already.
    devlink::LinkOptions options{.target = arch_};
    options.parallel.threads = 1;
    auto session = devlink::LinkSession::Create(options, {.pool = pool_});
    if (!session.ok()) return Say(target, std::string(session.status().message()) + "\n");
    for (const std::string& input : target.inputs) {
      // What is wrong with an input is among the diagnostics, and so fails this target alone.
      session->AddFile(input).IgnoreError();
    }
    std::string said;
    const auto rejected = session->diagnostics();
    const bool sound = std::none_of(rejected.begin(), rejected.end(), [](const auto& diagnostic) {
      return diagnostic.severity >= devlink::Severity::kError;
    });
    const devlink::LinkOutcome linked = session->Link();
    for (const devlink::Diagnostic& diagnostic : linked.diagnostics) {
      said += devlink::RenderDiagnostic(diagnostic, "link_many_targets");
    }
    if (!sound || !linked.ok()) {
      std::remove(target.output.c_str());
      return Say(target, said);
    }
    if (!Replace(target.output, linked.cubin)) return Say(target, said + "cannot be written\n");
    if (!said.empty()) Say(target, said);
    return true;
  }

  // False, for whoever fails with it. Lines of two targets do not mix.
  bool Say(const Target& target, const std::string& text) {
    const std::lock_guard lock(printing_);
    std::cerr << target.output << ":\n" << text;
    return false;
  }

  const devlink::Arch arch_;
  const std::shared_ptr<devlink::ModulePool> pool_ = std::make_shared<devlink::ModulePool>();
  std::mutex printing_;
};

}  // namespace

int main(int argc, char** argv) {
  unsigned threads = 0;
  if (argc == 4) {
    const std::string_view text = argv[2];
    std::from_chars(text.data(), text.data() + text.size(), threads);
  }
  if (threads == 0 || threads > 64) {
    std::cerr << "usage: link_many_targets ARCH THREADS LIST\n";
    return 2;
  }
  const auto arch = devlink::Arch::Parse(argv[1]);
  std::ifstream list(argv[3]);  // of a folder, nothing can be read
  if (!arch.ok() || list.peek() == std::ifstream::traits_type::eof()) {
    std::cerr << (arch.ok() ? "cannot read the list" : std::string(arch.status().message()))
              << "\n";
    return 2;
  }
  const std::vector<Target> targets = ReadTargets(list);
  // Two links at a time of one file would mix.
  std::set<std::string> outputs;
  for (const Target& target : targets) {
    if (outputs.insert(target.output).second) continue;
    std::cerr << target.output << " is the output of two targets\n";
    return 2;
  }
  const std::size_t failed = Build(*arch).Run(targets, threads);
  std::cout << targets.size() - failed << " linked, " << failed << " failed\n";
  return failed == 0 ? 0 : 1;
}
