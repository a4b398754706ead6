// SPDX-License-Identifier: Apache-2.0
//
// Statements of random PTX functions that refer to nothing outside the function, or only to memory.
#include <cstddef>
#include <string_view>

#include "random/ptx_function.h"
#include "support/text.h"

namespace devlink::testing {
namespace {

using Space = PtxVariable::Space;

}  // namespace

void PtxFunctionWriter::Arithmetic() {
  const int number = random_.Range(2, 99);
  text_ += Substitute(" mad.lo.s32 x, x, $0, $1; xor.b32 x, x, $2;\n", number, number * 7,
                      random_.Range(1, 1000));
}

void PtxFunctionWriter::LocalShared() {
  const std::string name = "sh" + Label();
  const int align = random_.Pick({4, 4, 8, 16, 64});
  const int size = random_.Pick({4, 8, 12, 16, 16, 32, 100, 1024});
  text_ += Substitute(
      " { .shared .align $0 .b8 $1[$2]; st.shared.u32 [$1], x; bar.sync 0;"
      " and.b32 y, x, 3; mov.u64 b, $1; cvt.u64.u32 c, y; add.s64 b, b, c; ld.shared.u8 y, [b];"
      " add.s32 x, x, y; }\n",
      align, name, size);
}

void PtxFunctionWriter::Frame() {
  const std::string name = "frame" + Label();
  text_ += Substitute(
      " { .local .align $0 .b8 $1[$2]; and.b32 y, x, 1; mul.wide.u32 b, y, 4; mov.u64 c, $1;"
      " add.s64 c, c, b; st.local.u32 [c], x; cvta.local.u64 c, c; ld.u32 y, [c+4];"
      " add.s32 x, x, y; }\n",
      random_.Pick({4, 8, 16}), name, random_.Pick({8, 16, 24, 120, 400, 4096}));
}

void PtxFunctionWriter::Alloca() {
  text_ +=
      " and.b32 y, x, 31; cvt.u64.u32 b, y; alloca.u64 c, b; st.local.u32 [c], x;"
      " ld.local.u32 y, [c+4]; add.s32 x, x, y;\n";
}

void PtxFunctionWriter::ParameterAccess() {
  if (!IsEntry() || function_.parameter_bytes == 0) return Arithmetic();
  if (random_.Chance(70)) {
    text_ += Substitute(" ld.param.u8 y, [a2+$0]; add.s32 x, x, y;\n",
                        random_.Range(0, function_.parameter_bytes - 1));
  } else {
    text_ += " mov.b64 b, a2; cvta.param.u64 b, b; ld.u8 y, [b]; add.s32 x, x, y;\n";
  }
}

void PtxFunctionWriter::DoubleConstants() {
  text_ += " cvt.rn.f64.s32 d, x;\n";
  const int count = random_.Range(1, 4);
  for (int i = 0; i < count; ++i) {
    // Doubles a little above 1 and 2 whose low words are not zero, so that they do not fit into an
    // instruction.
    text_ += Substitute(" fma.rn.f64 d, d, 0d3FF$0, 0d400$1;\n", Hex(random_.Next() >> 12 | 1, 13),
                        Hex(random_.Next() >> 12 | 1, 13));
  }
  text_ += " cvt.rzi.s32.f64 x, d;\n";
}

void PtxFunctionWriter::SlowPath() {
  // Divisions and roots call helper functions that ptxas adds to every file, under the same names.
  switch (random_.Below(5)) {
    case 0:
      text_ +=
          " cvt.rn.f64.s32 d, x; add.f64 e, d, 0d4008000000000001; div.rn.f64 d, d, e;"
          " cvt.rzi.s32.f64 x, d;\n";
      break;
    case 1:
      text_ += " cvt.rn.f64.s32 d, x; sqrt.rn.f64 d, d; rcp.rn.f64 d, d; cvt.rzi.s32.f64 x, d;\n";
      break;
    case 2:
      text_ +=
          " cvt.rn.f32.s32 f, x; add.f32 g, f, 0f40000001; div.rn.f32 f, f, g; sqrt.rn.f32 f, f;"
          " cvt.rzi.s32.f32 x, f;\n";
      break;
    case 3:
      text_ += " cvt.s64.s32 b, x; add.s64 c, b, 12345; div.s64 b, c, b; cvt.u32.u64 x, b;\n";
      break;
    default:
      text_ +=
          " add.s32 y, x, 77; rem.s32 x, x, y; cvt.u64.u32 b, x; rem.u64 b, b, 1000003;"
          " cvt.u32.u64 y, b; add.s32 x, x, y;\n";
      break;
  }
}

void PtxFunctionWriter::JumpTable() {
  const int cases = random_.Range(5, 9);
  const std::string prefix = Label();
  text_ += Substitute(" rem.u32 y, x, $0;\n$1T: .branchtargets ", cases, prefix);
  for (int i = 0; i < cases; ++i) Append(text_, i == 0 ? "" : ", ", prefix, "C", i);
  Append(text_, ";\n brx.idx y, ", prefix, "T;\n");
  static constexpr std::string_view kBodies[] = {
      "mul.lo.s32 x, x, 7", "shl.b32 x, x, 3",    "xor.b32 x, x, 77",
      "popc.b32 x, x",      "brev.b32 x, x",      "clz.b32 x, x",
      "sub.s32 x, 7, x",    "mul.hi.s32 x, x, x", "mad.lo.s32 x, x, x, x"};
  for (int i = 0; i < cases; ++i) {
    Append(text_, prefix, "C", i, ": ", kBodies[i], "; bra ", prefix, "E;\n");
  }
  Append(text_, prefix, "E:\n");
}

void PtxFunctionWriter::Pressure() {
  const int count = random_.Pick({12, 24, 40, 70, 120});
  text_ += Substitute(" { .reg .b32 t<$0>; cvt.u64.u32 b, x;\n", count);
  for (int i = 0; i < count; ++i) {
    text_ += Substitute("  ld.volatile.global.u32 t$0, [b+$1];", i, i * 4);
  }
  text_ += "\n  bar.sync 0;\n";
  for (int i = 0; i < count; ++i) {
    text_ += Substitute("  st.volatile.global.u32 [b+$0], t$1;", i * 4 + 4096, count - 1 - i);
  }
  text_ += " }\n";
}

void PtxFunctionWriter::Loop() {
  const std::string label = Label();
  text_ += Substitute(
      " mov.u32 z, %tid.x;\n$0A:\n setp.ge.s32 p, z, x; @p bra $0B;\n cvt.u64.u32 b, z;"
      " ld.global.u32 y, [b]; add.s32 x, x, y; add.s32 z, z, $1;\n"
      " setp.eq.s32 p, y, 3; @p bra $0B; and.b32 y, y, 1; setp.eq.s32 p, y, 1; @p bra $0A;"
      " add.s32 z, z, 5; bra $0A;\n$0B:\n",
      label, random_.Range(1, 9));
}

void PtxFunctionWriter::Barrier() {
  const int number = random_.Range(0, 15);
  switch (random_.Below(4)) {
    case 0:
      text_ += Substitute(" barrier.sync $0, 64;\n", number);
      break;
    case 1:
      text_ += Substitute(" bar.arrive $0, 128;\n", number);
      break;
    case 2:
      text_ += " and.b32 y, x, 15; barrier.sync y;\n";  // any barrier
      break;
    default:
      text_ += Substitute(" bar.sync $0;\n", number);
      break;
  }
}

void PtxFunctionWriter::GridZ() { text_ += " mov.u32 y, %ctaid.z; add.s32 x, x, y;\n"; }

void PtxFunctionWriter::Texture() {
  constexpr std::string_view kTexture =
      " { .reg .f32 t<4>; cvt.rn.f32.s32 t0, x; tex.2d.v4.f32.f32 {t0, t1, t2, t3}, [$0, {t0, t0}];"
      " cvt.rzi.s32.f32 y, t0; add.s32 x, x, y; }\n";
  constexpr std::string_view kSurface = " suld.b.2d.b32.trap {y}, [$0, {x, x}]; add.s32 x, x, y;\n";
  const Space space = random_.Chance(50) ? Space::kTexture : Space::kSurface;
  const std::vector<std::size_t> references = Variables(space);
  if (!references.empty() && random_.Chance(70)) {
    const std::size_t reference = references[random_.Below(references.size())];
    uses_.variables.insert(reference);
    text_ +=
        Substitute(space == Space::kTexture ? kTexture : kSurface, plan_.variables[reference].name);
    return;
  }
  if (!plan_.Has(kTextures)) return Arithmetic();
  text_ += IsEntry() ? " ld.param.u64 b, [a1];\n" : " cvt.u64.u32 b, x;\n";
  text_ += Substitute(space == Space::kTexture ? kTexture : kSurface, "b");
}

void PtxFunctionWriter::AsyncCopy() {
  const std::string name = "sh" + Label();
  text_ += Substitute(
      " { .shared .align 16 .b8 $0[$1]; cvt.u64.u32 b, x; cp.async.ca.shared.global [$0+4], [b], 4;"
      " cp.async.commit_group; cp.async.wait_all; ld.shared.u32 y, [$0+4]; add.s32 x, x, y; }\n",
      name, random_.Pick({16, 64, 256}));
}

void PtxFunctionWriter::MemoryBarrier() {
  const std::string name = "sh" + Label();
  text_ += Substitute(
      " { .shared .align 8 .b64 $0; mbarrier.init.shared.b64 [$0], $1;"
      " mbarrier.arrive.shared.b64 b, [$0]; mbarrier.test_wait.shared.b64 p, [$0], b;"
      " selp.b32 y, 1, 2, p; add.s32 x, x, y; }\n",
      name, random_.Range(1, 32));
}

void PtxFunctionWriter::BulkCopy() {
  const std::string name = "sh" + Label();
  const bool tensor = random_.Chance(50);
  text_ += Substitute(
      tensor ? " { .shared .align 128 .b8 $0[640]; cvt.u64.u32 b, x;"
               " cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes"
               " [$0+128], [b, {x}], [$0]; }\n"
             : " { .shared .align 16 .b8 $0[64]; cvt.u64.u32 b, x;"
               " cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
               " [$0+16], [b], 16, [$0]; }\n",
      name);
}

void PtxFunctionWriter::Cluster() {
  switch (random_.Below(3)) {
    case 0:
      text_ += " barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n";
      break;
    case 1:
      text_ +=
          " mapa.shared::cluster.u32 y, x, 1; ld.shared::cluster.u32 y, [y]; add.s32 x, x, y;\n";
      break;
    default:
      text_ +=
          " mov.u32 y, %cluster_ctaid.x; mov.u32 z, %cluster_nctarank; add.s32 x, x, y;"
          " add.s32 x, x, z;\n";
      break;
  }
}

void PtxFunctionWriter::Warp() {
  switch (random_.Below(5)) {
    case 0:
      text_ += " match.any.sync.b32 y, x, -1; add.s32 x, x, y;\n";
      break;
    case 1:
      text_ +=
          plan_.target.number >= 80 ? " redux.sync.add.s32 x, x, -1;\n" : " bar.warp.sync -1;\n";
      break;
    case 2:
      text_ += " setp.gt.s32 p, x, 4; vote.sync.ballot.b32 y, p, -1; add.s32 x, x, y;\n";
      break;
    case 3:
      text_ += " activemask.b32 y; shfl.sync.idx.b32 x, x, y, 31, -1;\n";
      break;
    default:
      text_ += " barrier.red.popc.u32 y, 0, p; add.s32 x, x, y;\n";
      break;
  }
}

void PtxFunctionWriter::Atomics() {
  switch (random_.Below(4)) {
    case 0:
      text_ += " cvt.u64.u32 b, x; atom.global.add.u32 y, [b], x; add.s32 x, x, y;\n";
      break;
    case 1:
      text_ += " cvt.u64.u32 b, x; red.global.add.f64 [b], 0d3FF3333333333333;\n";
      break;
    case 2:
      text_ += " cvt.u64.u32 b, x; atom.cas.b64 c, [b], b, b; cvt.u32.u64 x, c;\n";
      break;
    default:
      text_ += " atom.shared.exch.b32 y, [x], x; add.s32 x, x, y;\n";
      break;
  }
}

void PtxFunctionWriter::Fences() {
  text_ += random_.Pick<std::string_view>({" membar.sys;\n", " membar.gl;\n", " membar.cta;\n",
                                           " fence.acq_rel.sys;\n", " fence.sc.gpu;\n"});
}

void PtxFunctionWriter::SpecialRegisters() {
  const auto name = random_.Pick<std::string_view>({"%total_smem_size", "%dynamic_smem_size",
                                                    "%clock", "%smid", "%envreg2", "%lanemask_lt",
                                                    "%nctaid.y", "%warpid", "%gridid"});
  if (name == "%gridid") {
    text_ += " mov.u64 b, %gridid; cvt.u32.u64 y, b; add.s32 x, x, y; nanosleep.u32 20;\n";
  } else {
    text_ += Substitute(" mov.u32 y, $0; add.s32 x, x, y;\n", name);
  }
}

void PtxFunctionWriter::ArchSpecific() {
  const int choices = plan_.target.variant == 'a' && plan_.target.number == 90 ? 5 : 3;
  switch (random_.Below(static_cast<std::size_t>(choices))) {
    case 0:
      text_ += " elect.sync y|p, -1; add.s32 x, x, y;\n";
      break;
    case 1:
      text_ += " griddepcontrol.wait; griddepcontrol.launch_dependents;\n";
      break;
    case 2:
      text_ += " fence.proxy.async; fence.mbarrier_init.release.cluster;\n";
      break;
    case 3:
      text_ +=
          " wgmma.fence.sync.aligned; wgmma.commit_group.sync.aligned;"
          " wgmma.wait_group.sync.aligned 0;\n";
      break;
    default:
      text_ += random_.Chance(50) ? " setmaxnreg.inc.sync.aligned.u32 80;\n"
                                  : " setmaxnreg.dec.sync.aligned.u32 40;\n";
      break;
  }
}

}  // namespace devlink::testing
