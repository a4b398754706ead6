// SPDX-License-Identifier: Apache-2.0
//
// Links PTX, LTO IR, cubins and host objects, and has all that is compiled done elsewhere:
// compile_elsewhere LAUNCHER PTX_TOOL NVVM ARCH OUTPUT INPUT...
// PTX_TOOL is libdevlink_ptxcompiler.so or ptxas, NVVM is libnvvm.so or empty. Every compilation
// becomes a folder that depends on nothing outside it: this program, the tool, the request, and the
// command in `run`. LAUNCHER gets the folder as its last argument; it runs the command there, on
// whatever machine, and brings back the file `result`. docs/remote-compilation.md has launchers.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "devlink/devlink.h"

namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::uint8_t>;

bool Write(const fs::path& path, std::string_view text) {
  std::ofstream out(path, std::ios::binary);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.close();
  return out.good();
}

std::string_view AsText(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

absl::StatusOr<Bytes> Read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return absl::NotFoundError("there is no " + path.string());
  return Bytes(std::istreambuf_iterator<char>(in), {});
}

// Runs a program and waits for it. Zero where all went well.
int Run(std::vector<std::string> words) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  if (posix_spawnp(&child, argv[0], nullptr, nullptr, argv.data(), environ) != 0) return -1;
  int status = 0;
  if (waitpid(child, &status, 0) != child) return -1;
  return status;
}

class Farm : public devlink::CompileExecutor {
 public:
  Farm(std::string launcher, fs::path worker, fs::path actions)
      : launcher_(std::move(launcher)), worker_(std::move(worker)), actions_(std::move(actions)) {}

  // As many as the farm does for one link. Each has a thread here that waits.
  [[nodiscard]] unsigned Parallelism() const override { return 64; }

  [[nodiscard]] absl::StatusOr<Bytes> Execute(const devlink::CompileAction& action,
                                              const devlink::CompileHere& /*here*/) const override {
    const fs::path folder = actions_ / action.key.Hex();
    std::error_code error;
    fs::create_directories(folder, error);
    fs::copy_file(worker_, folder / "worker", fs::copy_options::skip_existing, error);
    if (!error) {
      fs::copy_file(action.tool_path, folder / "tool", fs::copy_options::skip_existing, error);
    }
    // The tools of this program see no variables of the environment, and neither do the worker's.
    const std::string command = "#!/bin/sh\nexec env -i ./worker --work '" +
                                std::string(action.tool_name) + "' tool request result\n";
    if (error || !Write(folder / "request", AsText(action.request)) ||
        !Write(folder / "run", command)) {
      return absl::UnavailableError("cannot write " + folder.string());
    }
    fs::permissions(folder / "run", fs::perms::owner_all, error);
    if (const int status = Run({launcher_, folder.string()}); status != 0) {
      return absl::UnavailableError("the launcher ended with " + std::to_string(status));
    }
    return Read(folder / "result");
  }

  void DoneByLink(const devlink::CompileAction& action, const absl::Status& reason) const override {
    // At once: other threads have something to say, too.
    std::cerr << "compiled here with " + std::string(action.tool_name) + ": " +
                     std::string(reason.message()) + "\n";
  }

 private:
  const std::string launcher_;
  const fs::path worker_;
  const fs::path actions_;
};

// On the other machine.
int Work(const std::string& tool_name, const fs::path& tool, const fs::path& request,
         const fs::path& result) {
  auto tools = devlink::ToolsOfWorker(tool_name, fs::absolute(tool).string());
  const auto bytes = Read(request);
  if (!tools.ok() || !bytes.ok()) {
    std::cerr << (tools.ok() ? bytes.status() : tools.status()) << "\n";
    return 2;
  }
  tools->ptx.temporary_directory = fs::current_path().string();
  const auto done = devlink::RunCompileAction(*bytes, *tools);
  if (!done.ok()) {
    std::cerr << done.status() << "\n";
    return 1;
  }
  return Write(result, AsText(*done)) ? 0 : 1;
}

int Link(const std::vector<std::string>& words) {
  const auto target = devlink::Arch::Parse(words[3]);
  if (!target.ok()) {
    std::cerr << target.status() << "\n";
    return 2;
  }
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  const auto farm = std::make_shared<Farm>(words[0], self, fs::absolute(words[4] + ".actions"));
  const bool is_library = words[1].find(".so") != std::string::npos;
  auto tools = devlink::ToolsOfWorker(is_library ? "nvPTXCompiler" : "ptxas", words[1]);
  tools->ptx.temporary_directory = fs::temp_directory_path().string();
  tools->ptx.executor = farm;
  tools->lto = {.nvvm_path = words[2], .executor = farm};
  auto session = devlink::LinkSession::Create(
      {.target = *target, .lto = {.enabled = !words[2].empty()}},
      {.toolchain = std::make_shared<devlink::Toolchain>(*std::move(tools))});
  if (!session.ok()) {
    std::cerr << session.status() << "\n";
    return 2;
  }
  const std::vector<std::string> inputs(words.begin() + 5, words.end());
  if (const absl::Status added = session->AddFiles(inputs); !added.ok()) {
    std::cerr << added << "\n";
    return 1;
  }
  const devlink::LinkOutcome linked = session->Link();
  for (const devlink::Diagnostic& diagnostic : linked.diagnostics) {
    std::cerr << devlink::RenderDiagnostic(diagnostic, "compile_elsewhere");
  }
  if (!linked.ok()) return 1;
  return Write(words[4], AsText(linked.cubin)) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() == 5 && words[0] == "--work")
    return Work(words[1], words[2], words[3], words[4]);
  if (words.size() >= 6) return Link(words);
  std::cerr << "usage: compile_elsewhere LAUNCHER PTX_TOOL NVVM ARCH OUTPUT INPUT...\n";
  return 2;
}
