// SPDX-License-Identifier: Apache-2.0
#include "report/details_json.h"

#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/json.h"
#include "base/readable_names.h"
#include "base/strings.h"
#include "report/details_index.h"

namespace devlink::internal {

namespace {

using base::JsonString;

std::string_view NameOf(InputOrigin origin) {
  switch (origin) {
    case InputOrigin::kFile:
      return "file";
    case InputOrigin::kArchiveMember:
      return "archive-member";
    case InputOrigin::kDeviceRuntime:
      return "device-runtime";
    case InputOrigin::kCompiled:
      return "compiled";
    case InputOrigin::kProvided:
      return "provided";
  }
  return "";
}

std::string_view NameOf(LiveReason reason) {
  switch (reason) {
    case LiveReason::kDead:
      return "dead";
    case LiveReason::kKernel:
      return "kernel";
    case LiveReason::kCalled:
      return "called";
    case LiveReason::kCalledThroughPointer:
      return "called-through-pointer";
    case LiveReason::kAddressTaken:
      return "address-taken";
    case LiveReason::kKeptAll:
      return "kept-all";
    case LiveReason::kAskedFor:
      return "asked-for";
  }
  return "";
}

std::string_view NameOf(KernelChoice choice) {
  switch (choice) {
    case KernelChoice::kAll:
      return "all";
    case KernelChoice::kHostReferences:
      return "host-references";
    case KernelChoice::kNames:
      return "names";
    case KernelChoice::kNothingIsLeftOut:
      return "nothing-is-left-out";
  }
  return "";
}

std::string Index(std::uint32_t index) { return index == kNoIndex ? "null" : absl::StrCat(index); }

std::string List(const std::vector<std::uint32_t>& indices) {
  return absl::StrCat("[", absl::StrJoin(indices, ", "), "]");
}

std::string Word(std::string_view word) { return base::Cat({"\"", word, "\""}); }

class Writer {
 public:
  std::string Write(const LinkDetails& details) {
    out_ = absl::StrCat("{\n    \"kernel_choice\": ", Word(NameOf(details.kernel_choice)));
    Add("inputs", details.inputs);
    Add("lto_inputs", details.lto_inputs);
    Add("left_out", details.left_out);
    Add("sections", details.sections);
    Add("functions", details.functions);
    Add("pointer_calls", details.pointer_calls);
    Add("variables", details.variables);
    return std::move(out_) + "\n  }";
  }

 private:
  static std::string Json(const InputDetails& input) {
    return absl::StrCat("{\"name\": ", JsonString(input.name),
                        ", \"origin\": ", Word(NameOf(input.origin)), ", \"bytes\": ", input.bytes,
                        "}");
  }
  static std::string Json(const LeftOutInput& input) {
    return absl::StrCat("{\"name\": ", JsonString(input.name),
                        ", \"reason\": ", JsonString(input.reason), "}");
  }
  static std::string Json(const std::string& name) { return JsonString(name); }
  static std::string Json(const SectionDetails& section) {
    return absl::StrCat("{\"name\": ", JsonString(section.name), ", \"bytes\": ", section.bytes,
                        ", \"file_bytes\": ", section.file_bytes, ", \"align\": ", section.align,
                        "}");
  }
  std::string Json(const FunctionDetails& function) {
    return absl::StrCat(
        "{\"name\": ", JsonString(function.name),
        ", \"readable\": ", JsonString(ShownName(names_, function.name)),
        ", \"input\": ", Index(function.input),
        ", \"kernel\": ", function.is_kernel ? "true" : "false",
        ", \"address_taken\": ", function.is_address_taken ? "true" : "false",
        ", \"why\": ", Word(NameOf(function.why)),
        ", \"reached_from\": ", Index(function.reached_from),
        ", \"code_bytes\": ", function.code_bytes, ", \"registers\": ", function.registers,
        ", \"barriers\": ", function.barriers, ", \"frame_bytes\": ", function.frame_bytes,
        ", \"copies\": ", function.copies, ", \"discarded_bytes\": ", function.discarded_bytes,
        ", \"finalized\": ",
        !function.is_finalized   ? "null"
        : *function.is_finalized ? "true"
                                 : "false",
        ", \"callees\": ", List(function.callees), "}");
  }
  static std::string Json(const PointerCalls& calls) {
    return absl::StrCat("{\"callers\": ", List(calls.callers),
                        ", \"targets\": ", List(calls.targets), "}");
  }
  std::string Json(const VariableDetails& variable) {
    return absl::StrCat("{\"name\": ", JsonString(variable.name),
                        ", \"readable\": ", JsonString(ShownName(names_, variable.name)),
                        ", \"input\": ", Index(variable.input),
                        ", \"memory\": ", Word(WordFor(variable.memory)),
                        ", \"section\": ", JsonString(variable.section),
                        ", \"bytes\": ", variable.bytes, ", \"offset\": ", variable.offset, "}");
  }

  template <typename T>
  void Add(std::string_view key, const std::vector<T>& entries) {
    absl::StrAppend(&out_, ",\n    ", Word(key), ": [");
    const char* separator = "\n      ";
    for (const T& entry : entries) {
      absl::StrAppend(&out_, separator, Json(entry));
      separator = ",\n      ";
    }
    out_ += entries.empty() ? "]" : "\n    ]";
  }

  base::ReadableNames names_;
  std::string out_;
};

}  // namespace

std::string DetailsJson(const LinkDetails& details) { return Writer().Write(details); }

}  // namespace devlink::internal
