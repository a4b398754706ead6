// SPDX-License-Identifier: Apache-2.0
#include "jit_linkers.h"

#include <cstdint>
#include <mutex>
#include <span>
#include <utility>

#include "devlink/devlink.h"

namespace devlink::bench {

namespace {

std::span<const std::uint8_t> View(const Bytes& bytes) {
  return {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
}

class LibraryLinker final : public JitLinker {
 public:
  LibraryLinker(NvJitLinkLibrary library, const JitCase& what)
      : library_(library), options_(what.options) {
    options_.insert(options_.begin(), "-arch=" + what.arch);
  }

  bool Link(const std::vector<NamedBytes>& inputs) override {
    return library_.Link(options_, inputs).has_value();
  }
  [[nodiscard]] bool is_devlink() const override { return library_.is_devlink(); }

 private:
  NvJitLinkLibrary library_;
  std::vector<std::string> options_;
};

class SessionLinker final : public JitLinker {
 public:
  SessionLinker(LinkerChoice::Kind kind, const JitCase& what, const ToolPlaces& places)
      : kind_(what.kind), changes_(what.changes) {
    options_.target = *Arch::Parse(what.arch);
    options_.lto.enabled = what.kind == JitCase::Kind::kLtoIr;
    ToolchainOptions tools{.ptx = {.nvptxcompiler_path = places.nvptxcompiler},
                           .lto = {.nvvm_path = places.nvvm}};
    if (kind == LinkerChoice::Kind::kCache) tools.cache = CreateMemoryCache();
    toolchain_ = std::make_shared<Toolchain>(std::move(tools));
    // Where every link has other modules, the bound makes the pool forget them.
    if (kind == LinkerChoice::Kind::kPool) {
      pool_ = std::make_shared<ModulePool>(
          ModulePoolOptions{.max_bytes = what.changes ? std::uint64_t{1} << 20 : 0});
    }
  }

  bool Link(const std::vector<NamedBytes>& inputs) override {
    auto session = LinkSession::Create(options_, {.pool = pool_, .toolchain = toolchain_});
    if (!session.ok()) return false;
    if (pool_ != nullptr && !changes_) {
      std::call_once(filled_, [&] { Fill(inputs); });
      for (const ModuleRef& module : modules_) {
        if (!session->AddModule("module", module).ok()) return false;
      }
      return session->Link().ok();
    }
    for (const NamedBytes& input : inputs) {
      if (!Add(*session, input).ok()) return false;
    }
    return session->Link().ok();
  }

 private:
  void Fill(const std::vector<NamedBytes>& inputs) {
    for (const NamedBytes& input : inputs) {
      if (auto module = pool_->AddCubin(View(input.bytes)); module.ok()) {
        modules_.push_back(*std::move(module));
      }
    }
  }

  absl::Status Add(LinkSession& session, const NamedBytes& input) {
    const auto bytes = View(input.bytes);
    if (pool_ != nullptr) {
      auto module = pool_->AddCubin(bytes);
      if (!module.ok()) return module.status();
      return session.AddModule(input.name, *module);
    }
    if (kind_ == JitCase::Kind::kCubins) return session.AddCubin(input.name, bytes);
    return session.AddInput(input.name, std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
  }

  JitCase::Kind kind_;
  bool changes_;
  LinkOptions options_;
  std::shared_ptr<ModulePool> pool_;
  std::once_flag filled_;
  std::vector<ModuleRef> modules_;  // that every link takes
  std::shared_ptr<Toolchain> toolchain_;
};

}  // namespace

bool Fits(const LinkerChoice& choice, const JitCase& what) {
  using Kind = LinkerChoice::Kind;
  const bool compiles = what.kind == JitCase::Kind::kPtx || what.kind == JitCase::Kind::kLtoIr;
  if (choice.kind == Kind::kPool) return what.kind == JitCase::Kind::kCubins;
  if (choice.kind == Kind::kCache) return compiles;
  // Options are words of nvJitLink's.
  return choice.kind == Kind::kLibrary || what.kind != JitCase::Kind::kGiven;
}

std::unique_ptr<JitLinker> OpenLinker(const LinkerChoice& choice, const JitCase& what,
                                      const ToolPlaces& places) {
  if (choice.kind != LinkerChoice::Kind::kLibrary) {
    return std::make_unique<SessionLinker>(choice.kind, what, places);
  }
  const auto library = NvJitLinkLibrary::Open(choice.path);
  if (!library) return nullptr;
  return std::make_unique<LibraryLinker>(*library, what);
}

}  // namespace devlink::bench
