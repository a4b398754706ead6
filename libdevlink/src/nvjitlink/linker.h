// SPDX-License-Identifier: Apache-2.0
//
// What is behind a handle of nvJitLink's interface: inputs are read, and PTX is assembled, when
// they are added; Complete links. docs/nvjitlink.md tells where this differs from NVIDIA's library.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/memory_lease.h"
#include "devlink/environment.h"
#include "devlink/experimental/compile_cache.h"
#include "devlink/link_session.h"
#include "devlink/module.h"
#include "devlink/nvlink_command.h"
#include "devlink/toolchain.h"
#include "input/input_record.h"
#include "nvjitlink/abi.h"
#include "nvjitlink/logs.h"
#include "nvjitlink/lto_step.h"
#include "nvjitlink/option_reader.h"

namespace devlink::nvjitlink {

// A result and, where that is a success, bytes of the handle's, which live until it changes.
struct Output {
  Result result = Result::kSuccess;
  std::string_view bytes;
};

// For one thread at a time, not always the same; any number of linkers may be at work side by side.
class Linker {
 public:
  // Says where tools are looked for.
  using Surroundings = std::function<CommandContext()>;

  // Borrows the environment. `surroundings` is asked when tools are first needed, at most once: to
  // look for them takes longer than to link a few cubins, which need none.
  Linker(const Environment& environment, Surroundings surroundings);
  Linker(const Linker&) = delete;
  Linker& operator=(const Linker&) = delete;
  ~Linker();

  // To be called once, first. After a failure there are logs, and everything else fails.
  Result Create(std::span<const std::string_view> options);

  // Nothing is borrowed: neither bytes nor name are needed afterwards. A failed add leaves the
  // handle as it was, but for the log.
  Result AddData(int type, std::span<const std::uint8_t> bytes, std::string_view name);
  Result AddFile(int type, const std::string& path);

  Result Complete();

  [[nodiscard]] Output Cubin() const;
  // With its NUL.
  [[nodiscard]] Output Ptx() const;
  // Linked when it is first asked for, since hardly anybody does.
  Output LtoIr();
  // Each with its NUL, or nothing at all where nothing was said.
  [[nodiscard]] Output ErrorLog() const;
  [[nodiscard]] Output InfoLog() const;

 private:
  Result AddRead(int type, std::span<const std::uint8_t> bytes, const std::string& name);
  Result AddAs(InputType type, std::span<const std::uint8_t> bytes, const std::string& name);
  Result AddCubin(std::span<const std::uint8_t> bytes, const std::string& name);
  Result AddPtx(std::string_view text, const std::string& name);
  Result AddLtoIr(std::span<const std::uint8_t> bytes, const std::string& name);
  Result AddContainer(std::span<const std::uint8_t> bytes, const std::string& name);
  Result LacksMemory(const absl::Status& why);
  Result AddCode(const internal::CodeRecord& code, const std::string& name, bool is_device_runtime);
  Result AddModule(const ModuleRef& module, const std::string& name, bool is_device_runtime);
  Result RefuseLtoIr();
  Result Refuse(Result result, std::string_view before, std::string_view name);
  const std::shared_ptr<Toolchain>& FoundToolchain();
  [[nodiscard]] Tools ToolsNow();
  Result CompleteLto(LinkSession& session);
  Result CompletePtx();
  Result LinkAll();

  const Environment& environment_;
  const Surroundings surroundings_;
  std::uint64_t created_at_ = 0;
  Options options_;
  LinkOptions link_options_;
  std::shared_ptr<Toolchain> toolchain_;  // once tools were looked for
  std::shared_ptr<ModulePool> pool_ = std::make_shared<ModulePool>();
  std::optional<LinkSession> session_;                  // empty: Create failed
  std::unordered_set<const internal::Module*> linked_;  // that the session has
  std::vector<LtoInput> lto_inputs_;
  // What all inputs together may take, and leave for each of them.
  std::shared_ptr<MemoryBudget> memory_;
  std::vector<std::shared_ptr<base::MemoryLease>> leases_;
  bool has_other_code_ = false;      // of an input that is not LTO IR,
  bool has_device_runtime_ = false;  // but for libcudadevrt
  bool is_complete_ = false;
  std::string cubin_;
  std::string ptx_;
  bool has_linked_lto_ = false;  // libNVVM has compiled the inputs
  std::string ltoir_;
  Logs logs_;
};

}  // namespace devlink::nvjitlink
