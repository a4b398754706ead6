// SPDX-License-Identifier: Apache-2.0
#include "support/lto_tools.h"

#include <filesystem>

#include "support/text.h"
#include "support/toolkit.h"

namespace devlink::testing {

namespace fs = std::filesystem;

std::string NvvmPlace() {
  const auto toolkit = FindToolkit();
  return toolkit ? fs::path(toolkit->nvlink).parent_path().parent_path().string() : "";
}

std::string NvJitLinkPath() {
  for (const char* folder : {"lib64", "lib"}) {
    const fs::path path = fs::path(NvvmPlace()) / folder / "libnvJitLink.so.13";
    if (!NvvmPlace().empty() && fs::exists(path)) return path.string();
  }
  return {};
}

std::vector<std::uint8_t> NvvmModule(int sm, std::string_view kernel, std::string_view callee,
                                     std::string_view defines) {
  const bool typed = sm < 100;
  std::string text =
      "target datalayout = \"e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-"
      "i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64\"\n"
      "target triple = \"nvptx64-nvidia-cuda\"\n"
      "!nvvmir.version = !{!1}\n"
      "!1 = !{i32 2, i32 0}\n";
  if (!defines.empty()) {
    text +=
        Substitute("define i32 @$0(i32 %x) {\n  %r = mul i32 %x, 3\n  ret i32 %r\n}\n", defines);
  }
  if (!callee.empty()) text += Substitute("declare i32 @$0(i32)\n", callee);
  if (!kernel.empty()) {
    const std::string_view call =
        callee.empty() ? "%r = add i32 %x, 1" : "%r = call i32 @$1(i32 %x)";
    text += Substitute(
        Cat("@llvm.used = appending global ",
            typed ? "[1 x i8*] [i8* bitcast (void (i32, i32*)* @$0 to i8*)]"
                  : "[1 x ptr] [ptr @$0]",
            ", section \"llvm.metadata\"\ndefine void @$0(i32 %x, $2 %p) {\n  ", call,
            "\n  store i32 %r, $2 %p\n  ret void\n}\n", "!nvvm.annotations = !{!0}\n!0 = !{",
            typed ? "void (i32, i32*)* @$0" : "ptr @$0", ", !\"kernel\", i32 1}\n"),
        kernel, callee, typed ? "i32*" : "ptr");
  }
  return {text.begin(), text.end()};
}

}  // namespace devlink::testing
