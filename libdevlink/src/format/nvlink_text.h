// SPDX-License-Identifier: Apache-2.0
//
// nvlink's sentences, word for word: build systems look for them. Each was seen in the output of
// nvlink 13.0; where a link ends, it says what is wrong and then which of its parts gave up.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace devlink::format::nvlink_text {

// Which part gave up.
inline constexpr std::string_view kInternalError = "elfLink internal error";
inline constexpr std::string_view kPlainInternalError = "Internal error";
inline constexpr std::string_view kFatbinaryError = "elfLink fatbinary error";
inline constexpr std::string_view kNvvmError = "elfLink nvvm error";
inline constexpr std::string_view kLibraryLoadError = "elfLink linker library load error";
inline constexpr std::string_view kJitCompileFailed = "elfLink JIT compile failed";
inline constexpr std::string_view kMergeFailed = "merge_elf failed";
inline constexpr std::string_view kNoCallGraphNode = "Internal error: no callgraph node";

// Inputs that are not what they are taken for.
inline constexpr std::string_view kNotAnElf = "cubin not an elf?";
inline constexpr std::string_view kNotADeviceElf = "cubin not a device elf?";
inline constexpr std::string_view kFatbinWrongFormat = "fatbin wrong format?";
inline constexpr std::string_view kUnexpectedArchive = "unexpected archive format";
inline constexpr std::string_view kNvvmOnlyWithLto = "should only see nvvm files when -lto";
inline constexpr std::string_view kNeverBitcode = "should never see bc files";
inline constexpr std::string_view kFormatNotRecognized =
    "Binary format for key='0', ident='' is not recognized";
inline constexpr std::string_view kUncompressFailed = "Uncompress failed";
inline constexpr std::string_view kUnexpectedModuleIds = "unexpected data in module_ids";
std::string CouldNotOpen(std::string_view file);
std::string CouldNotFindFatbin(std::string_view file);
std::string SkippingIncompatible(std::string_view file, std::string_view library);

// Inputs that do not go with the link.
inline constexpr std::string_view kAcceleratedToPlain =
    "cannot link accelerated arch to non-accelerated";
inline constexpr std::string_view kLtoObjectsFound = "LTO objects found, use -dlto";
inline constexpr std::string_view kArchTooLong = "specified arch exceeds buffer length";
std::string AbiDoesNotMatch(std::string_view file);
std::string Expected64BitObject(std::string_view file);
std::string OutputIsLimited(std::string_view file, std::uint32_t sm);
std::string ArchDoesNotMatch(std::string_view file, std::string_view target);
std::string ArchNotFound(std::string_view target, std::string_view file);
std::string NewerThanToolkit(std::string_view file, unsigned toolkit, unsigned own);
std::string MustBeRecompiled(std::string_view file);  // with CUDA 12.0 or later

// Options and link-time optimization.
inline constexpr std::string_view kIgnoringDlto =
    "Ignoring -dlto option because no LTO objects found";
inline constexpr std::string_view kIgnoringHostInfo =
    "ignore -use-host-info because -kernels-used or -variables-used is specified";
inline constexpr std::string_view kExpectedRuntime = "expected libcudadevrt object";
inline constexpr std::string_view kUnexpectedAfterRuntime = "unexpected object after cudadevrt";
std::string ConflictingOptions(std::string_view one, std::string_view other);
std::string PartialLto(std::string_view file);

// Two inputs that do not agree: `what` is one of these.
inline constexpr std::string_view kMultipleDefinition = "Multiple definition of";
inline constexpr std::string_view kMemorySpace = "Memory space doesn't match for";
inline constexpr std::string_view kManagedAttribute = "Managed attribute doesn't match for";
inline constexpr std::string_view kSize = "Size doesn't match for";
inline constexpr std::string_view kPrototype = "Prototype doesn't match for";
enum class FirstWas : std::uint8_t { kDefined, kSpecified };
std::string Disagreement(std::string_view what, std::string_view symbol, std::string_view file,
                         FirstWas was, std::string_view first_file);
std::string NotGlobalEverywhere(std::string_view function);
std::string ParameterBankSizes(std::string_view function);
std::string CommonLargerThanInit(std::string_view symbol, std::string_view file);

// The linked program.
inline constexpr std::string_view kDeletedSymbol = "Internal error: reference to deleted symbol";
std::string LimitedToArch(unsigned sm, std::string_view file);
std::string UndefinedReference(std::string_view symbol, std::string_view file);
std::string StackSizeUnknown(std::string_view entry);
std::string TooMuchShared(std::string_view entry, std::uint64_t bytes, std::uint64_t most);
std::string TensorMemoryVersions(std::string_view file);
inline constexpr std::string_view kOnlyWithRuntime =
    "-ewp compiled objects should only link with libcudadevrt";
std::string NotForExtensible(std::string_view file);
std::string NoRoomInKernel(std::string_view variable, std::string_view entry);
std::string MixedCtaGroups(std::string_view entry);
std::string TooMuchConstant(std::uint64_t bytes, std::uint64_t most);
std::string TooManyCompilerConstants(std::string_view entry);
std::string TooManyRegisters(std::string_view entry, std::uint32_t limit, std::string_view function,
                             std::uint32_t registers);

}  // namespace devlink::format::nvlink_text
