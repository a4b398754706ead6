// SPDX-License-Identifier: Apache-2.0
//
// What the passes of a link found, as text for people and for tests (`--print-after`;
// docs/debugging.md). Things are called by their names and stand in creation order, so that two
// dumps can be compared line by line. What has its usual value is left out.
#pragma once

#include <string>

#include "base/bounded_reader.h"
#include "link/attributes.h"
#include "link/call_graph.h"
#include "link/constant_layout.h"
#include "link/liveness.h"
#include "link/relocate.h"
#include "link/resources.h"
#include "link/shared_layout.h"
#include "link/shared_partial.h"
#include "link/texture_layout.h"
#include "model/file_parts.h"
#include "model/program.h"

namespace devlink::internal {

// LinkPass::kMerge: the program and what is around it in the file. The parts for tests that look at
// one of them:
std::string DumpProgram(const Program& program);
std::string DumpFileParts(const FileParts& file);
std::string DumpSections(const Program& program);
std::string DumpSymbols(const Program& program);
std::string DumpFunctions(const Program& program);
std::string DumpCalls(const Program& program);
std::string DumpRecords(const Program& program);  // of `.nv.info`, in order of arrival
std::string DumpRelocations(const Program& program);
std::string DumpNameOrder(const Program& program);

// The other passes; `program` and `liveness` are what they were given.
std::string DumpCallGraph(const Program& program, const CallGraph& graph);
std::string DumpLiveness(const Program& program, const Liveness& liveness);
std::string DumpShared(const Program& program, const Liveness& liveness,
                       const SharedLayout& layout);
std::string DumpShared(const Program& program, const PartialSharedLayout& layout);
std::string DumpConstants(const Program& program, const ConstantLayout& layout);
std::string DumpTextures(const Program& program, const TextureLayout& layout);
std::string DumpResources(const Program& program, const Liveness& liveness,
                          const Resources& resources);
std::string DumpAttributes(const Program& program, const Attributes& attributes);
std::string DumpRelocated(const Program& program, const Relocated& relocated);

// LinkPass::kImage: the sections and symbols of a cubin.
std::string DumpCubin(base::Bytes cubin);

}  // namespace devlink::internal
