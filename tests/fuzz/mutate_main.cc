// SPDX-License-Identifier: Apache-2.0
//
// devlink-mutate: damaged inputs through the command, and some of them through nvlink.
//
//   devlink-mutate --seeds FOLDER --count 1000000 --nvlink-every 50 --keep findings
//
// Inputs are linked in this program, in processes that each take several hundred of them and are
// watched: one that crashes, hangs or takes too much memory costs that input and no other. What is
// wrong is kept with the words of its command; the exit status is 1 if there is any.
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <map>
#include <new>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "fuzz/mutated_link.h"
#include "support/process.h"
#include "support/text.h"
#include "support/toolkit.h"

namespace devlink::testing {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr char kUsage[] =
    "usage: devlink-mutate --seeds FOLDER [--count N] [--first N] [--seed N] [--nvlink-every N]\n"
    "                      [--keep FOLDER]\n"
    "  --seeds         FOLDER/ARCH/NAME.EXTENSION: cubin, o, a, fatbin, ptx, ltoir, opt\n"
    "  --first         the number of the first input (default 0), to see one again\n"
    "  --nvlink-every  of how many inputs one goes to nvlink, too; 0 (default): none\n";

constexpr std::uint64_t kBatch = 500;
constexpr std::int64_t kLongestMs = 10000;       // of the processor's time
constexpr std::int64_t kLongestWaitMs = 120000;  // of any, on a machine with other work
constexpr rlim_t kAddressSpace = rlim_t{4} << 30;
constexpr int kAgain = 2;                // the status of a batch that ends before an input
constexpr long kResidentKb = 600 << 10;  // a session may take 256 MiB, and its output as much

struct Options {
  std::string seeds;
  std::string keep;
  std::uint64_t count = 1000;
  std::uint64_t first = 0;
  std::uint64_t seed = 1;
  std::uint64_t nvlink_every = 0;
};

// What happened to the inputs of one linker.
enum Outcome {
  kLinked,
  kRefused,
  kCrash,
  kHang,
  kMemory,
  kSilence,
  kLost,
  kControl,
  kStray,
  kThrown,
  kOutcomes
};
constexpr std::array<const char*, kOutcomes> kOutcomeNames = {
    "linked",        "refused",
    "crashes",       "hangs over 10 s",
    "out of memory", "refused without a word",
    "silent losses", "control characters in messages",
    "stray files",   "exceptions"};
using Counts = std::array<std::atomic<std::uint64_t>, kOutcomes>;

// Shared by the processes.
struct Board {
  std::atomic<std::uint64_t> current;    // the input in work
  std::atomic<std::int64_t> started_ms;  // since when; 0: nvlink is at work, which has a limit
  std::atomic<std::int64_t> cpu_ms;      // what its process had taken then
  Counts devlink;
  Counts nvlink;
  std::atomic<std::uint64_t> given_to_nvlink;
};

std::int64_t NowMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now().time_since_epoch())
      .count();
}

// What a process has taken of the processor; 0 where it is gone.
std::int64_t CpuMs(pid_t process) {
  clockid_t clock = 0;
  timespec time = {};
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
  return std::int64_t{time.tv_sec} * 1000 + time.tv_nsec / 1000000;
}

Outcome OutcomeOf(const MutatedResult& result) {
  switch (result.trouble) {
    case Trouble::kNone:
      return result.status == 0 ? kLinked : kRefused;
    case Trouble::kSilent:
      return kSilence;
    case Trouble::kLoss:
      return kLost;
    case Trouble::kEscape:
      return kControl;
    case Trouble::kStrayFile:
      return kStray;
    case Trouble::kException:
      break;
  }
  return kThrown;
}

Outcome OutcomeOfNvlink(const MutatedResult& result) {
  const bool memory = result.said.find("emory alloc") != std::string::npos ||
                      result.said.find("bad_alloc") != std::string::npos;
  if (result.timed_out) return kHang;
  if (memory) return kMemory;
  return result.signal != 0 ? kCrash : OutcomeOf(result);
}

class Mutator {
 public:
  Mutator(Options options, std::vector<Seed> seeds, std::string nvlink)
      : options_(std::move(options)), seeds_(std::move(seeds)), nvlink_(std::move(nvlink)) {
    void* const place =
        mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED) throw std::bad_alloc();
    board_ = new (place) Board();
  }

  int Run() {
    if (!options_.keep.empty()) {
      fs::create_directories(options_.keep);
      options_.keep = fs::absolute(options_.keep).string();
    }
    const Clock::time_point start = Clock::now();
    const std::uint64_t end = options_.first + options_.count;
    std::uint64_t next = options_.first;
    std::uint64_t printed = next;
    while (next < end) {
      next = RunBatch(next, std::min(end, next + kBatch));
      if (next - printed < kBatch * 40) continue;
      Print(next - options_.first, start);
      printed = next;
    }
    Print(options_.count, start);
    std::uint64_t wrong = 0;
    for (int i = kCrash; i < kOutcomes; ++i) wrong += board_->devlink[i];
    return wrong == 0 ? 0 : 1;
  }

 private:
  // Returns where to go on.
  std::uint64_t RunBatch(std::uint64_t begin, std::uint64_t end) {
    const TemporaryDirectory directory("devlink-mutate");
    board_->current = begin;
    Start(0);
    const pid_t child = fork();
    if (child < 0) throw std::bad_alloc();
    if (child == 0) {
      fs::current_path(directory.path());
      LinkBatch(begin, end);
      _exit(0);
    }
    int status = 0;
    bool hung = false;
    while (waitpid(child, &status, WNOHANG) == 0) {
      const std::int64_t started = board_->started_ms;
      if (!hung && started != 0 &&
          (CpuMs(child) - board_->cpu_ms > kLongestMs || NowMs() - started > kLongestWaitMs)) {
        hung = true;
        kill(child, SIGKILL);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return end;
    const std::uint64_t number = board_->current;
    if (WIFEXITED(status) && WEXITSTATUS(status) == kAgain) return number;
    // A batch ends itself behind an input that took too much, which is counted then.
    if (!WIFEXITED(status)) Found(number, hung ? kHang : kCrash, Cat("status ", status));
    return number + 1;
  }

  void Start(std::int64_t cpu_ms) {
    board_->started_ms = 0;  // nobody looks at one without the other
    board_->cpu_ms = cpu_ms;
    board_->started_ms = NowMs();
  }

  void LinkBatch(std::uint64_t begin, std::uint64_t end) {
    const rlimit space = {kAddressSpace, kAddressSpace};
    const rlimit none = {0, 0};
    setrlimit(RLIMIT_AS, &space);
    setrlimit(RLIMIT_CORE, &none);
    for (std::uint64_t number = begin; number < end; ++number) {
      board_->current = number;
      Start(CpuMs(getpid()));
      const MutatedInput input = MakeMutatedInput(seeds_, options_.seed, number);
      const MutatedResult result = LinkWithDevlink(input);
      Outcome outcome = OutcomeOf(result);
      rusage usage = {};
      getrusage(RUSAGE_SELF, &usage);
      if (usage.ru_maxrss > kResidentKb) {
        // Others before it may have left what they took, as those do that libNVVM refuses.
        if (number != begin) _exit(kAgain);
        outcome = kMemory;
      }
      outcome >= kCrash ? Found(number, outcome, result.what) : void(++board_->devlink[outcome]);
      if (!nvlink_.empty() && number % options_.nvlink_every == 0) LinkAlso(input);
      if (outcome == kMemory) _exit(1);
    }
  }

  void LinkAlso(const MutatedInput& input) {
    board_->started_ms = 0;
    ++board_->given_to_nvlink;
    ++board_->nvlink[OutcomeOfNvlink(LinkWithNvlink(input, nvlink_))];
  }

  void Found(std::uint64_t number, Outcome outcome, const std::string& what) {
    ++board_->devlink[outcome];
    const MutatedInput input = MakeMutatedInput(seeds_, options_.seed, number);
    std::printf("%s: %s/%s %s: %.200s: %llu\n", kOutcomeNames[outcome], input.seed->arch.c_str(),
                input.seed->name.c_str(), Join(input.words, " ").c_str(), what.c_str(),
                static_cast<unsigned long long>(number));  // NOLINT
    std::fflush(stdout);
    if (options_.keep.empty()) return;
    const fs::path file =
        fs::path(options_.keep) / Cat(number, "-", input.seed->arch, "-", input.seed->name);
    WriteBytes(file, input.bytes);
    WriteText(file.string() + ".words", Join(input.words, " ") + "\n" + what + "\n");
  }

  void Print(std::uint64_t done, Clock::time_point start) const {
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    std::printf("%llu inputs, %.0f seconds\n", static_cast<unsigned long long>(done),  // NOLINT
                seconds);
    PrintCounts("devlink", board_->devlink);
    if (board_->given_to_nvlink != 0) PrintCounts("nvlink", board_->nvlink);
    std::fflush(stdout);
  }

  static void PrintCounts(const char* who, const Counts& counts) {
    std::printf("  %s:", who);
    for (int i = 0; i < kOutcomes; ++i) {
      std::printf("%s %llu %s", i == 0 ? "" : ",", static_cast<unsigned long long>(counts[i]),
                  kOutcomeNames[i]);  // NOLINT
    }
    std::printf("\n");
  }

  Options options_;
  std::vector<Seed> seeds_;
  std::string nvlink_;
  Board* board_ = nullptr;
};

bool ParseOptions(const std::vector<std::string>& args, Options& o) {
  const std::map<std::string_view, std::uint64_t*> numbers = {{"--count", &o.count},
                                                              {"--first", &o.first},
                                                              {"--seed", &o.seed},
                                                              {"--nvlink-every", &o.nvlink_every}};
  const std::map<std::string_view, std::string*> texts = {{"--seeds", &o.seeds},
                                                          {"--keep", &o.keep}};
  for (std::size_t i = 0; i + 1 < args.size(); i += 2) {
    if (const auto number = numbers.find(args[i]); number != numbers.end()) {
      *number->second = std::strtoull(args[i + 1].c_str(), nullptr, 0);
    } else if (const auto text = texts.find(args[i]); text != texts.end()) {
      *text->second = args[i + 1];
    } else {
      return false;
    }
  }
  return args.size() % 2 == 0 && !o.seeds.empty();
}

int Main(const std::vector<std::string>& args) {
  Options options;
  if (!ParseOptions(args, options)) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  std::vector<Seed> seeds = ReadSeeds(options.seeds);
  if (seeds.empty()) {
    std::fputs("devlink-mutate: no seeds\n", stderr);
    return 2;
  }
  std::string nvlink;
  if (options.nvlink_every != 0) {
    const auto toolkit = FindToolkit();
    if (!toolkit) {
      std::fputs("devlink-mutate: there is no nvlink\n", stderr);
      return 2;
    }
    nvlink = toolkit->nvlink;
  }
  return Mutator(std::move(options), std::move(seeds), std::move(nvlink)).Run();
}

}  // namespace
}  // namespace devlink::testing

int main(int argc, char** argv) {
  try {
    return devlink::testing::Main({argv + 1, argv + argc});
  } catch (const std::exception& e) {
    std::fprintf(stderr, "devlink-mutate: %s\n", e.what());
    return 2;
  }
}
