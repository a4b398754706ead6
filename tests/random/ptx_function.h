// SPDX-License-Identifier: Apache-2.0
//
// Bodies of random PTX functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "random/prng.h"
#include "random/ptx_plan.h"

namespace devlink::testing {

// What the bodies of one file refer to and must be declared before them.
struct PtxUses {
  std::set<std::size_t> functions;
  std::set<std::size_t> variables;
  std::set<std::string> syscalls;  // "vprintf", "malloc", "free", "__assertfail"
  bool format_string = false;      // the variable $str
};

// `(.param .b32 r) name (.param .b32 a0)` for a function with that prototype.
std::string PtxSignature(const PtxPrototype& prototype, std::string_view name);

// `.visible .entry name (parameters)` as the kernel begins in that file.
std::string PtxEntrySignature(const PtxFunction& function, int file);

// Writes one function as it stands in one file.
class PtxFunctionWriter {
 public:
  // Adds what the function refers to to `uses`. Labels of a file need no distinction: their scope
  // is the function.
  PtxFunctionWriter(const PtxPlan& plan, std::size_t function, int file, PtxUses& uses);

  // The whole definition, linkage and head included.
  std::string Write();

 private:
  struct Statement {
    std::uint32_t feature;  // 0: always allowed
    int weight;
    int min_arch;
    void (PtxFunctionWriter::*emit)();
  };
  static const std::vector<Statement>& Statements();

  void EmitHead();
  void EmitStatement();
  void EmitEnd();

  // Calls.
  void DirectCall();
  void RecursiveCall();
  void IndirectCall();
  void TableCall();
  void TakeAddress();
  void Printf();
  void Heap();
  void Assert();

  // Memory.
  void GlobalAccess();
  void ConstAccess();
  void SharedAccess();
  void LocalShared();
  void DynamicShared();
  void Frame();
  void Alloca();
  void ParameterAccess();

  // Everything else.
  void Arithmetic();
  void DoubleConstants();
  void SlowPath();
  void JumpTable();
  void Pressure();
  void Loop();
  void Barrier();
  void GridZ();
  void Texture();
  void AsyncCopy();
  void MemoryBarrier();
  void BulkCopy();
  void Cluster();
  void Warp();
  void Atomics();
  void Fences();
  void SpecialRegisters();
  void ArchSpecific();

  // One access to a variable, of a state space and by a way of addressing that are chosen here.
  void AccessVariable(std::size_t variable, std::string_view space, bool may_store);
  // The text of a call: parameters, call, result. `target` is a name, or a register with a
  // prototype.
  void EmitCall(std::string_view target, const PtxPrototype& prototype, bool indirect);
  // A random function with a larger number (so that calls make no cycle) that this file can name.
  [[nodiscard]] std::vector<std::size_t> Callees(bool any_number) const;
  [[nodiscard]] std::vector<std::size_t> Variables(PtxVariable::Space space) const;
  [[nodiscard]] bool IsEntry() const { return function_.IsEntry(); }
  std::string Label() { return "L" + std::to_string(label_++); }

  const PtxPlan& plan_;
  const PtxFunction& function_;
  std::size_t index_;
  int file_;
  PtxUses& uses_;
  Prng random_;
  std::string text_;
  int label_ = 0;
};

}  // namespace devlink::testing
