// SPDX-License-Identifier: Apache-2.0
//
// What a file or an archive member is, by its bytes alone.
#pragma once

#include <string_view>

#include "base/bounded_reader.h"

namespace devlink::internal {

enum class ContentKind {
  kEmpty,            // no bytes at all
  kCudaRelocatable,  // cubin that a device linker takes (ET_REL)
  kCudaExtensible,   // the same of an extensible whole program (nvcc -ewp)
  kCudaExecutable,   // cubin that is linked already
  kCudaOther,        // CUDA ELF of any other type
  kHostRelocatable,  // ELF object of any other machine, class and byte order
  kHostExecutable,   // ET_EXEC
  kHostShared,       // ET_DYN: shared libraries and position-independent executables
  kHostOther,        // any other ELF: core dumps, unknown types, a header that is cut off
  kArchive,          // `!<arch>`
  kThinArchive,      // `!<thin>`: members lie in files of their own
  kFatbin,           // the container of device code, 0xBA55ED50
  kPtx,              // PTX text
  kLtoIr,            // NVVM LTO IR, as in `.ltoir` files
  kLlvmBitcode,      // LLVM bitcode, raw or wrapped
  kUnknown,
};

// Reads only the beginning of `bytes` and, for PTX, what stands before its `.version`. Says what
// the bytes claim to be, not that they are intact. Thread-safe; never fails.
ContentKind Recognise(base::Bytes bytes);

// For messages: `a fatbin`, `an ELF object for the host`.
std::string_view Describe(ContentKind kind);

// Whether the bytes have a name in them that only files with relocatable device code have: the
// section that holds it, or what every object with such code calls; or, where they are of no known
// kind, a cubin. For files that cannot be read.
bool MentionsDeviceCode(base::Bytes bytes);

bool IsElf(ContentKind kind);
bool IsCudaElf(ContentKind kind);
bool IsArchive(ContentKind kind);

// Device code as it stands: cubins of any type, fatbins, PTX, LTO IR.
bool IsDeviceCode(ContentKind kind);

}  // namespace devlink::internal
