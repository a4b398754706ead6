// SPDX-License-Identifier: Apache-2.0
#include "assemble/child_fence.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace devlink::internal {

namespace {

// --- Landlock, whose header may be older than the kernel -----------------------------------------

constexpr std::int64_t kCreateRuleset = 444;
constexpr std::int64_t kAddRule = 445;
constexpr std::int64_t kRestrictSelf = 446;
constexpr unsigned kAskVersion = 1;
constexpr unsigned kPathBeneath = 1;

struct RulesetAttributes {
  std::uint64_t files = 0;
  std::uint64_t network = 0;  // from version 4 on
};

struct [[gnu::packed]] PathRule {
  std::uint64_t allowed = 0;
  std::int32_t folder = -1;
};

constexpr std::uint64_t kWriteFile = 1 << 1;
constexpr std::uint64_t kRemoveAndMake = 0x1ff0;  // remove and make files and folders of each kind
constexpr std::uint64_t kRefer = 1 << 13;         // version 2: move to another folder
constexpr std::uint64_t kTruncate = 1 << 14;      // version 3
constexpr std::uint64_t kBindAndConnect = 3;      // version 4

std::int64_t Version() { return syscall(kCreateRuleset, nullptr, 0, kAskVersion); }

bool Allow(int rules, const char* path, std::uint64_t what) {
  PathRule rule{.allowed = what, .folder = open(path, O_PATH | O_CLOEXEC)};
  if (rule.folder < 0) return false;
  const bool added = syscall(kAddRule, rules, kPathBeneath, &rule, 0) == 0;
  close(rule.folder);
  return added;
}

// --- Seccomp -------------------------------------------------------------------------------------

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t kArchitecture = 0;  // none: nothing is filtered
#endif

// Nothing that an assembler needs.
constexpr std::array kRefused = {
    SYS_socket,  SYS_socketpair, SYS_ptrace,  SYS_process_vm_readv, SYS_process_vm_writev,
    SYS_bpf,     SYS_keyctl,     SYS_add_key, SYS_request_key,      SYS_mount,
    SYS_umount2, SYS_unshare,    SYS_setns,   SYS_perf_event_open,  SYS_pivot_root};

constexpr std::uint32_t kOtherAbi = 0x40000000;  // calls of x86-64 with short pointers

constexpr sock_filter Load(std::uint32_t offset) {
  return {.code = BPF_LD | BPF_W | BPF_ABS, .jt = 0, .jf = 0, .k = offset};
}
constexpr sock_filter Jump(std::uint16_t how, std::uint32_t value, std::size_t yes,
                           std::size_t no) {
  return {.code = static_cast<std::uint16_t>(BPF_JMP | BPF_K | how),
          .jt = static_cast<std::uint8_t>(yes),
          .jf = static_cast<std::uint8_t>(no),
          .k = value};
}
constexpr sock_filter Return(std::uint32_t what) {
  return {.code = BPF_RET | BPF_K, .jt = 0, .jf = 0, .k = what};
}

constexpr std::size_t kCalls = kRefused.size();

constexpr std::array<sock_filter, kCalls + 6> MakeFilter() {
  std::array<sock_filter, kCalls + 6> out{};
  std::size_t i = 0;
  // The last two say yes and no.
  const auto to_no = [&] { return out.size() - 1 - (i + 1); };
  out[i++] = Load(offsetof(seccomp_data, arch));
  out[i] = Jump(BPF_JEQ, kArchitecture, 0, to_no());
  ++i;
  out[i++] = Load(offsetof(seccomp_data, nr));
  out[i] = Jump(BPF_JGE, kOtherAbi, to_no(), 0);
  ++i;
  for (const std::int64_t call : kRefused) {
    out[i] = Jump(BPF_JEQ, static_cast<std::uint32_t>(call), to_no(), 0);
    ++i;
  }
  out[i++] = Return(SECCOMP_RET_ALLOW);
  out[i] = Return(SECCOMP_RET_ERRNO | EPERM);
  return out;
}

constexpr auto kFilter = MakeFilter();

}  // namespace

ChildFence::ChildFence(const std::string& writable_folder) {
  const std::int64_t version = Version();
  if (version < 1) return;
  RulesetAttributes attributes{.files = kWriteFile | kRemoveAndMake, .network = kBindAndConnect};
  if (version >= 2) attributes.files |= kRefer;
  if (version >= 3) attributes.files |= kTruncate;
  const std::size_t size = version >= 4 ? sizeof(attributes) : sizeof(attributes.files);
  rules_ = static_cast<int>(syscall(kCreateRuleset, &attributes, size, 0));
  if (rules_ < 0) return;
  fcntl(rules_, F_SETFD, FD_CLOEXEC);
  Allow(rules_, "/dev/null", attributes.files & (kWriteFile | kTruncate));
  if (!Allow(rules_, writable_folder.c_str(), attributes.files)) {
    // Better no fence than one that keeps the child from its work.
    close(rules_);
    rules_ = -1;
  }
}

ChildFence::~ChildFence() {
  if (rules_ >= 0) close(rules_);
}

void ChildFence::Enter() const {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return;
  if (rules_ >= 0) syscall(kRestrictSelf, rules_, 0);
  if constexpr (kArchitecture != 0) {
    const sock_fprog program = {.len = static_cast<std::uint16_t>(kFilter.size()),
                                .filter = const_cast<sock_filter*>(kFilter.data())};
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
  }
}

bool CanFenceWrites() { return Version() >= 1; }

}  // namespace devlink::internal
