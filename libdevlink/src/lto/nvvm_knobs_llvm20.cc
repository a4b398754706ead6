// SPDX-License-Identifier: Apache-2.0
//
// The knobs of libNVVM 13.0 for sm_100 and later, as its own list of options gives them; those that
// the list leaves out were found by trying. Made by the steps in docs/optimiser-knobs.md.
#include "lto/nvvm_knob_tables.h"

namespace devlink::internal {

namespace {

using Kind = NvvmKnobKind;
using Scope = NvvmKnobScope;

// clang-format off
constexpr KnobNames kNames[] = {
    {Kind::kBoolean, Scope::kLibrary, R"(
O1 O2 O3 Om Osize W Werror abort-on-max-devirt-iterations-reached adce-remove-control-flow
adce-remove-loops add-linkage-names-to-declaration-call-origins addr-sink-combine-base-gv
addr-sink-combine-base-offs addr-sink-combine-base-reg addr-sink-combine-scaled-reg
addr-sink-new-phis addr-sink-new-select addr-sink-using-gep addrsig aggregate-extracted-args
aggressive-ext-opt aggressive-lsv aggressive-machine-cse aggressive-no-sink
aggressive-runtime-unrolling allow-incomplete-ir allow-restrict-in-struct allow-unroll-and-jam
annotate-inline-phase annotate-sample-profile-inline-phase append-content-hash-outlined-name
apply-ext-tsp-for-size apply-multi-level-restrict asan-always-slow-path
asan-detect-invalid-pointer-cmp asan-detect-invalid-pointer-pair asan-detect-invalid-pointer-sub
asan-force-dynamic-shadow asan-globals asan-globals-live-support
asan-guard-against-version-mismatch asan-initialization-order asan-instrument-atomics
asan-instrument-byval asan-instrument-dynamic-allocas asan-instrument-reads asan-instrument-writes
asan-kernel asan-kernel-mem-intrinsic-prefix asan-opt asan-opt-globals asan-opt-same-temp
asan-opt-stack asan-optimize-callbacks asan-recover asan-redzone-byval-args
asan-skip-promotable-allocas asan-stack asan-stack-dynamic-alloca asan-use-after-scope
asan-use-odr-indicator asan-use-private-alias asan-use-stack-safety asan-with-comdat
asan-with-ifunc asan-with-ifunc-suppress-remat asm-print-latency asm-show-inst
assume-default-is-flat-addrspace assume-preserve-all atomic-counter-update-promoted
atomic-first-counter attributor-allow-deep-wrappers attributor-allow-shallow-wrappers
attributor-annotate-decl-cs attributor-assume-closed-world attributor-dump-dep-graph
attributor-enable-call-site-specific-deduction attributor-manifest-internal
attributor-print-call-graph attributor-print-dep attributor-simplify-all-loads
attributor-view-dep-graph avail-extern-to-local avoid-speculation balance-dot-chain
basic-aa-full-recphi basic-aa-recphi basic-aa-separate-storage basic-block-address-map
basic-block-address-map-skip-bb-entries basic-dbe bbsections-detect-source-drift
bbsections-guided-section-prefix block-freq-remat bounds-checking-single-trap branch-dist-norm
branch-fold-placement callgraph-heat-colors callgraph-multigraph callgraph-show-weights
cfg-heat-colors cfg-hide-deoptimize-paths cfg-hide-unreachable-paths cfg-raw-weights cfg-weights
cgp-icmp-eq2icmp-st cgp-optimize-phi-types cgp-split-large-offset-gep cgp-type-promotion-merge
cgp-verify-bfi-updates check-bfi-unknown-block-queries check-sxtopt codegen-data-generate
codegen-data-thinlto-two-rounds color combiner-add-rotate combiner-global-alias-analysis
combiner-reduce-load-op-store-width combiner-reduce-load-op-store-width-force-narrowing-profitable
combiner-shrink-load-replace-store-with-store combiner-split-load-index combiner-store-merging
combiner-stress-load-slicing combiner-use-tbaa common-factor-with-mr265 compute-dead
conditional-counter-update consthoist-gep consthoist-with-block-frequency
constraint-elimination-dump-reproducers copy-prop-mcse costmodel-reduxcost crel cssa-coalesce
cta-reconfig-aware-mrpa cta-reconfig-aware-rpa ctx-prof-promote-alwaysinline da-delinearize
da-disable-delinearization-checks dag-disable-combine dag-dump-verbose data-sections ddg-pi-blocks
ddg-simplify debug-ata-coalesce-frags debug-compile debug-counter-break-on-last debug-entry-values
debug-info-correlate debug-info-for-profiling debugify-and-strip-all-safe
debugify-check-and-strip-all-safe debugify-each debugify-quiet demote-catchswitch-only
devicefn-param-always-local dfa-early-exit-heuristic dfa-jump-view-cfg-before
dfsan-combine-offset-labels-on-gep dfsan-combine-pointer-labels-on-load
dfsan-combine-pointer-labels-on-store dfsan-conditional-callbacks dfsan-debug-nonzero-labels
dfsan-event-callbacks dfsan-ignore-personality-routine dfsan-preserve-alignment
dfsan-reaches-function-callbacks dfsan-track-select-control-flow disable-2addr-hack
disable-JumpThreadingPass disable-add-to-or disable-adv-copy-opt disable-advanced-peeling
disable-atexit-based-global-dtor-lowering disable-attrib-transplant
disable-auto-upgrade-debug-info disable-basic-aa disable-binop-extract-shuffle
disable-bitcode-version-upgrade disable-block-placement disable-branch-fold disable-cfi-fixup
disable-cgdata-for-merging disable-cgp disable-cgp-branch-opts disable-cgp-delete-phis
disable-cgp-ext-ld-promotion disable-cgp-gc-opts disable-cgp-select2branch
disable-cgp-store-extract disable-check-noreturn-call disable-chr disable-cleanups
disable-complex-addr-modes disable-complex-branch-dist disable-constant-hoisting
disable-converting-i32 disable-copyprop disable-demotion disable-dfa-sched disable-early-ifcvt
disable-early-taildup disable-expand-reductions disable-fp-cast-opt disable-gep-const-evaluation
disable-global-outlining disable-i2p-p2i-opt disable-icp disable-ifcvt-diamond
disable-ifcvt-forked-diamond disable-ifcvt-simple disable-ifcvt-simple-false
disable-ifcvt-triangle disable-ifcvt-triangle-false disable-ifcvt-triangle-rev disable-inlining
disable-interleaved-load-combine disable-ipo-derefinement disable-jump-threading
disable-last-run-tracking disable-layout-fsprofile-loader disable-ldst-upsizing disable-lftr
disable-licm-promotion disable-loop-idiom-all disable-loop-idiom-memcpy disable-loop-idiom-memset
disable-loop-idiom-vectorize-all disable-loop-idiom-vectorize-bytecmp
disable-loop-idiom-vectorize-find-first-byte disable-loop-level-heuristics disable-loop-unrolling
disable-lsr disable-machine-cse disable-machine-dce disable-machine-licm disable-machine-sink
disable-memop-opt disable-mergeicmps disable-mr-partial-inlining disable-nofree-inference
disable-non-allocatable-phys-copy-opt disable-nounwind-inference
disable-nvptx-load-store-vectorizer disable-nvptx-require-structured-cfg
disable-ondemand-mds-loading disable-partial-inlining disable-partial-libcall-inlining
disable-peephole disable-phi-elim-edge-splitting disable-pipeline-verification disable-post-opt
disable-post-ra disable-postra-machine-licm disable-postra-machine-sink disable-preheader-prot
disable-preinline disable-ra-fsprofile-loader disable-replace-with-vec-lib disable-rsqrt-opt
disable-sample-loader-inlining disable-sched-critical-path disable-sched-cycles
disable-sched-hazard disable-sched-height disable-sched-live-uses disable-sched-physreg-join
disable-sched-reg-pressure disable-sched-stalls disable-sched-vrcycle disable-select-optimize
disable-separate-const-offset-from-gep disable-set-array-alignment
disable-set-global-array-alignment disable-set-local-array-alignment
disable-set-shared-array-alignment disable-simplify-libcalls disable-sink disable-ssc
disable-strictnode-mutation disable-struct-lowering disable-symbolication disable-tail-calls
disable-tail-duplicate disable-thinlto-funcattrs disable-type-promotion disable-unknown-trip-lsr
disable-vector-combine disable-vp disable-whole-program-visibility discard-value-names
do-comdat-renaming do-counter-promotion do-ip-msp do-licm do-lsr-64-bit do-scev-cgp-aggresively
do-sign-ext-expand donot-insert-dup-copies dot-ddg-only dot-mcfg-only dropped-variable-stats
dropped-variable-stats-mir drvcuda drvnvcl dse-optimize-memoryssa dump-before-cssa
dump-ir-after-memory-space-opt dump-ir-before-memory-space-opt dump-normalize-gep
dump-process-restrict dump-sink2 dwarf64 eagerly-invalidate-analyses early-live-intervals
earlycse-debug-hash eliminate-redundant-movs emit-call-site-info emit-compact-unwind-non-canonical
emit-func-debug-line-table-offsets emit-jump-table-sizes-section emulate-old-livedebugvalues
emulated-tls enable-256-bit-load-store enable-aa-sched-mi enable-andcmp-sinking
enable-approx-func-fp-math enable-bfi64 enable-block-placement-stats enable-chr
enable-cold-section enable-coldcc-stress-test enable-complex-deinterleaving enable-cond-stores-vec
enable-constraint-elimination enable-debugify enable-deferred-spilling
enable-detailed-function-properties enable-dfa-jump-thread enable-dot enable-double-float-shrink
enable-dse-initializes-attr-improvement enable-dse-partial-overwrite-tracking
enable-dse-partial-store-merging enable-early-exit-vectorization enable-epilogue-vectorization
enable-ext-tsp-block-placement enable-fma-to-ffma2 enable-fs-discriminator enable-global-analyses
enable-global-merge enable-global-merge-func enable-gvn-hoist enable-gvn-memdep
enable-gvn-memoryssa enable-gvn-sink enable-heap-to-stack-conversion
enable-histogram-loop-vectorization enable-if-conversion enable-implicit-null-checks
enable-import-metadata enable-ind-var-reg-heur enable-infer-alignment-pass
enable-interleaved-mem-accesses enable-ipra enable-jmc-instrument enable-jump-table-to-switch
enable-knowledge-retention enable-legalize-types-checking enable-linkonceodr-ir-outlining
enable-linkonceodr-outlining enable-load-in-loop-pre enable-load-pre
enable-loadstore-runtime-interleave enable-local-reassign enable-loop-distribute
enable-loop-flatten enable-loop-header-duplication enable-loop-peeling
enable-loop-simplifycfg-term-folding enable-loop-versioning-licm enable-loopinterchange
enable-lsr-phielim enable-masked-interleaved-mem-accesses enable-matrix
enable-mem-access-versioning enable-memcpy-dag-opt enable-memcpyopt-without-libcalls
enable-memprof-context-disambiguation enable-memprof-indirect-call-support enable-merge-functions
enable-misched enable-module-inliner enable-name-compression enable-new-nvvm-remat enable-newgvn
enable-no-infs-fp-math enable-no-nans-fp-math enable-no-signed-zeros-fp-math
enable-no-trapping-fp-math enable-noalias-to-md-conversion enable-nonnull-arg-prop
enable-nontrivial-unswitch enable-npm-pgo-inline-deferral enable-nvvm-peephole
enable-objc-arc-opts enable-old-lsv enable-order-file-instrumentation enable-partial-inlining
enable-patchpoint-liveness enable-phi-of-ops enable-pipeliner enable-pipeliner-opt-size
enable-post-inline-intr-ranges enable-post-misched enable-post-pgo-loop-rotation enable-pre
enable-psr enable-sampled-instrumentation enable-scalar-pre enable-scc-inline-advisor-printing
enable-scoped-noalias enable-selectiondag-sp enable-shrink-wrap enable-shrink-wrap-region-split
enable-sign-dependent-rounding-fp-math enable-sink enable-spill-copy-elim
enable-split-backedge-in-load-pre enable-split-loopiv-heuristic enable-split-machine-functions
enable-store-refinement enable-subreg-liveness enable-tail-merge enable-tbaa enable-tlsdesc
enable-unroll-and-jam enable-unsafe-fp-math enable-unsafe-globalsmodref-alias-results
enable-unswitch-cost-multiplier enable-vfe enable-vplan-native-path enable-vtable-profile-use
enable-vtable-value-profiling evaluate-aa-metadata exhaustive-register-search
expand-constant-exprs experimental-debug-variable-locations experimental-debuginfo-iterators
ext-tsp-apply-without-profile extend-compute-range-analysis extra-vectorizer-passes
extract-blocks-erase-funcs fast-isel fast-isel-report-on-fallback fatal-warnings fdpic
fixup-allow-gcptr-in-csr fixup-scs-enable-copy-propagation fixup-scs-extend-slot-size
flattened-profile-used force-chr force-dwarf-frame-section force-fast-cluster force-fuse-matrix
force-hardware-loop-guard force-hardware-loop-phi force-hardware-loops force-import-all
force-instr-ref-livedebugvalues force-loop-cold-block force-nested-hardware-loop
force-ordered-reductions force-pgso force-precise-rotation-cost force-sampler-handle
force-specialization force-split-store force-surface-handle force-target-supports-scalable-vectors
force-texture-handle force-widen-divrem-via-safe-divisor forget-scev-loop-unroll
forward-switch-cond fp-remat freeze-loop-unswitch-cond fs-viewbfi-after fs-viewbfi-before
funcspec-for-literal-constant funcspec-on-address function-sections fuse-matrix
fuse-matrix-use-loops gc-empty-basic-blocks gcov-atomic-counter generate-arange-section
generate-line-info generate-merged-base-profiles generate-type-units global-isel
global-merge-all-const global-merge-group-by-use global-merge-ignore-single-use
global-merge-on-const global-merge-on-external global-merging-skip-no-params
greedy-regclass-priority-trumps-globalness greedy-reverse-local-assignment
guard-widening-widen-branch-guards gvn-add-phi-translation gvn-disable-load-widening gvn-dom-cache
hash-based-counter-split high-cost-remat hints-allow-reordering hoist-cheap-insts
hoist-common-insts hoist-const-loads hoist-const-stores hoist-load-param
hoist-loads-stores-with-cond-faulting hoist-runtime-checks hot-cold-split hot-cold-static-analysis
hwasan-experimental-use-page-aliases hwasan-generate-tags-with-calls hwasan-globals
hwasan-inline-all-checks hwasan-inline-fast-path-checks hwasan-instrument-atomics
hwasan-instrument-byval hwasan-instrument-landing-pads hwasan-instrument-mem-intrinsics
hwasan-instrument-personality-functions hwasan-instrument-reads hwasan-instrument-stack
hwasan-instrument-with-calls hwasan-instrument-writes hwasan-kernel
hwasan-kernel-mem-intrinsic-prefix hwasan-recover hwasan-use-after-scope hwasan-use-short-granules
hwasan-use-stack-safety hwasan-with-frame-record ias-param-always-point-to-global
ias-strong-global-assumptions ias-track-indir-load ias-track-int2ptr ias-wmma-memory-space-opt
icp-call-only icp-dumpafter icp-invoke-only icp-lto icp-samplepgo ifcvt-branch-fold
ignore-32-bit-overflow ignore-address-space-check ignore-bad-base ignore-bad-fp
ignore-phi-overhead ignore-redundant-instrumentation ignore-signed-32-bit-overflow
ignore-tti-inline-compatible ignore-variance-cond ignore-xcoff-visibility implicit-mapsyms
imply-fp-condition import-all-index import-constants-with-refs import-declaration
import-full-type-definitions improved-fs-discriminator incremental-linker-compatible
incremental-update-mcse incremental-update-remat indvars-post-increment-ranges
indvars-predicate-loops indvars-widen-indvars inline-asm-remat inline-caller-superset-nobuiltin
inline-cost-full inline-deferral inline-enable-cost-benefit-analysis inline-remark-attribute
inline-switchctrl inline-use-budget inliner-interactive-include-default insert-assert-align
instcombine-canonicalize-geps-i8 instcombine-code-sinking instcombine-disable-bitcast-phi-opt
instcombine-merge-stores-from-aggr instcombine-negator-enabled instcombine-split-gep-chain
instcombine-verify-known-bits instrprof-atomic-counter-update-all
interactive-model-runner-echo-reply interleave-loops ir-outliner ir-outlining-no-cost
ir-sim-calls-by-name irce-allow-narrow-latch irce-allow-unsigned-latch irce-print-changed-loops
irce-print-range-checks irce-print-scaled-boundary-range-checks irce-skip-profitability-checks
iterative-counter-promotion iv-skip-sxt jobserver join-globalcopies join-liveintervals
join-splitedges jump-is-expensive jump-threading-across-loop-headers
jump-threading-disable-select-unfolding jumptable-in-function-section
keep-inline-advisor-for-printing keep-loops laa-speculate-unit-stride ldg
licm-control-flow-hoisting licm-force-thread-model-single licm-skip-unrolled-loops
line-info-inlined-at lint-abort-on-error live-debug-variables lnk-disable-allopts
load-bitcode-into-experimental-debuginfo-iterators load-func-profile-for-cg-matching
loop-deletion-enable-symbolic-execution loop-distribute-non-if-convertible loop-distribute-verify
loop-flatten-assume-no-overflow loop-flatten-version-loops loop-flatten-widen-iv
loop-idiom-vectorize-verify loop-predication-enable-count-down-loop
loop-predication-enable-iv-truncation
loop-predication-insert-assumes-of-predicated-guards-conditions
loop-predication-predicate-widenable-branches-to-deopt loop-predication-skip-profitability-checks
loop-prefetch-writes loop-rotate-multi loop-vectorize-with-block-frequency
loop-version-annotate-no-alias lower-func-args lower-interleaved-accesses
lower-read-only-devicefn-byval lowertypetests-avoid-reuse lsa-opt lsr-drop-scaled-reg-for-vscale
lsr-drop-solution lsr-enable-vscale-immediates lsr-exp-narrow lsr-filter-same-scaled-reg
lsr-fix-iv-inc lsr-insns-cost lsr-outer-loop-invariant lsr-simplify-code lsr-skip-outer-loop
lv-strided-pointer-ivs machine-combiner-dump-subst-intrs machine-combiner-verify-pattern-order
machine-sink-bfi machine-sink-split mandatory-inlining-first matrix-allow-contract
matrix-print-after-transpose-opt mc-relax-all mcp-use-is-copy-instr mem-loc-frag-fill
memdep-cache-byval-loads memdep-cache-candidates memdep-cache-candidates-verify memory-space-opt
memprof-allow-recursive-callsites memprof-allow-recursive-contexts
memprof-clone-recursive-contexts memprof-dump-ccg memprof-export-to-dot
memprof-guard-against-version-mismatch memprof-histogram memprof-instrument-atomics
memprof-instrument-reads memprof-instrument-stack memprof-instrument-writes
memprof-keep-all-not-cold-contexts memprof-match-hot-cold-new memprof-print-match-info
memprof-report-hinted-sizes memprof-require-definition-for-promotion memprof-salvage-stale-profile
memprof-use-callbacks memprof-use-hot-hints memprof-verify-ccg memprof-verify-nodes
merge-pgo-atomics mergefunc-preserve-debug-info mergefunc-use-aliases mfs-split-ehcode
mir-debug-loc mir-strip-debugify-only mir-vreg-namer-use-stable-hash misched-cluster
misched-cyclicpath misched-dcpl misched-fusion misched-postra misched-regpressure
ml-advisor-keep-fpi-cache module-hash module-summary msan-check-access-address
msan-check-constant-shadow msan-disable-checks msan-dump-strict-instructions
msan-dump-strict-intrinsics msan-eager-checks msan-handle-asm-conservative msan-handle-icmp
msan-handle-icmp-exact msan-handle-lifetime-intrinsics msan-keep-going msan-kernel
msan-poison-stack msan-poison-stack-with-call msan-poison-undef msan-print-stack-names
msan-with-comdat mxcoff-roptr no-deprecated-warn no-discriminators no-dwarf-ranges-section
no-integrated-as no-ir-sim-branch-matching no-ir-sim-indirect-calls no-ir-sim-intrinsics
no-kernel-info-end-lto no-pgo-warn-mismatch no-pgo-warn-mismatch-comdat-weak
no-phi-elim-live-out-early-exit no-reg-target-nvptxremat no-stack-coloring no-stack-slot-sharing
no-trap-after-noreturn no-type-check no-warn no-warn-sample-unused norm-fold-all
norm-preserve-order norm-rename-all norm-reorder-operands nozero-initialized-in-bss
nsan-check-loads nsan-check-ret nsan-check-stores nsan-instrument-fcmp
nsan-propagate-non-ft-const-stores-as-ft nsan-truncate-fcmp-eq nv-cuda nv-disable-loop-unrolling
nv-disable-mem2reg nv-disable-remat nv-disable-scev-cgp nv-ocl nvptx-32-bit-smem
nvptx-approx-log2f32 nvptx-disable-combiner-for-O0 nvptx-disable-set-global-array-alignment
nvptx-disable-set-local-array-alignment nvptx-disable-set-shared-array-alignment
nvptx-early-byval-copy nvptx-emit-init-fini-kernel nvptx-emit-src nvptx-enable-machine-sink
nvptx-exit-on-unreachable nvptx-force-min-byval-param-align nvptx-generate-pack-unpack
nvptx-kernel-params-restrict nvptx-lower-global-ctor-dtor nvptx-nan nvptx-no-f16-math
nvptx-normalize-select nvptx-prec-sqrtf32 nvptx-rsqrt-approx-opt nvptx-sched4reg nvptx-short-ptr
nvptx-use-max-local-array-alignment nvptxaa-relax-fences nvvm-lower-printf nvvm-reflect-enable
nvvm-verify-show-info only-simple-regions openmp-deduce-icv-values
openmp-hide-memory-transfer-latency openmp-ir-builder-optimistic-attributes openmp-opt-disable
openmp-opt-disable-barrier-elimination openmp-opt-disable-deglobalization
openmp-opt-disable-folding openmp-opt-disable-internalization openmp-opt-disable-spmdization
openmp-opt-disable-state-machine-rewrite openmp-opt-enable-merging openmp-opt-inline-device
openmp-opt-print-module-after openmp-opt-print-module-before openmp-opt-verbose-remarks
openmp-print-gpu-kernels openmp-print-icv-values opt-action-remat opt-bisect-verbose
opt-unsafe-algebra opt-use-fast-math opt-use-prec-div optimize-existing-hot-cold-new
optimize-hot-cold-new optimize-non-fmv-callers optimize-regalloc outliner-leaf-descendants
overwrite-existing-weights param-always-point-to-global partial-profile partial-sink
partition-static-data-sections pass-remarks-with-hotness pbqp-coalescing persist-profile-staleness
pgo-block-coverage pgo-emit-branch-prob pgo-fix-entry-count pgo-function-entry-coverage
pgo-instr-memop pgo-instr-select pgo-instrument-cold-function-only pgo-instrument-entry
pgo-instrument-loop-entries pgo-memop-optimize-memcmp-bcmp pgo-memop-scale-count
pgo-temporal-instrumentation pgo-treat-unknown-as-cold pgo-verify-bfi pgo-verify-hot-bfi
pgo-view-block-coverage-graph pgo-warn-misexpect pgo-warn-missing-function pgso
pgso-cold-code-only pgso-cold-code-only-for-instr-pgo pgso-cold-code-only-for-partial-sample-pgo
pgso-cold-code-only-for-sample-pgo pgso-lwss-only phi-elim-split-all-critical-edges
phicse-debug-hash pi-force-live-exit-outline pi-mark-coldcc pipeliner-annotate-for-testing
pipeliner-dbg-res pipeliner-enable-copytophi pipeliner-experimental-cg pipeliner-ignore-recmii
pipeliner-mve-cg pipeliner-prune-deps pipeliner-prune-loop-carried pipeliner-register-pressure
pipeliner-show-mask pipeliner-swap-branch-targets-mve post-RA-scheduler pre-mcse
precise-rotation-cost pred-aware-mcse prefer-inloop-reductions prefer-predicated-reduction-select
preprocess-remat preserve-alignment-assumptions-during-inlining preserve-bc-uselistorder
preserve-input-debuginfo-format preserve-integer-fma-patterns preserve-ll-uselistorder
print-after-all print-after-isel print-after-scev-cgp print-all-alias-modref-info
print-all-reaching-defs print-before-all print-before-changed print-bfi print-bpi print-debug-ata
print-debug-counter print-import-failures print-imports print-inst-addrs print-inst-debug-locs
print-instruction-comments print-isel-input print-loop-func-scope print-machine-bfi
print-may-aliases print-mi-addrs print-mod print-modref print-module-scope print-must-aliases
print-no-aliases print-no-modref print-on-crash print-partial-aliases print-pass-numbers
print-pipeline-passes print-prof-data print-ref print-reg-target print-regusage print-slotindexes
print-summary-global-ids print-verify print-verify-remat process-alloca-always
process-builtin-assume profgen profile-accurate-for-symsinlist profile-guided-section-prefix
profile-isfs profile-sample-accurate profile-sample-block-accurate profile-summary-contextless
profile-unknown-in-special-section profuse propagate-attrs protect-from-escaped-allocas
pseudo-probe-for-profiling rafast-ignore-missing-defs reassociate-geps-verify-no-dead-code
reassociate-use-cse-local remarks-section remat-load-param rename-only-inst
renumber-blocks-before-view reorder-sext-before-cnst-add report-profile-staleness
restrict-statepoint-remat rotation-prepare-for-lto rp-aware-mcse rp-aware-sink
rs4gc-allow-statepoint-with-no-deopt-info rs4gc-clobber-non-live rs4gc-remat-derived-at-uses
run-twice runtime-counter-relocation runtime-unroll-check-profit safe-stack-coloring
safe-stack-layout safepoint-ir-verifier-print-only safestack-use-pointer-address
salvage-stale-profile salvage-unused-profile sample-profile-even-flow-distribution
sample-profile-inline-size sample-profile-join-islands sample-profile-merge-inlinee
sample-profile-prioritized-inline sample-profile-rebalance-unknown sample-profile-recursive-inline
sample-profile-remove-probe sample-profile-top-down-load sample-profile-use-preinliner
sample-profile-use-profi sampled-instrumentation sanitizer-coverage-control-flow
sanitizer-coverage-gated-trace-callbacks sanitizer-coverage-inline-8bit-counters
sanitizer-coverage-inline-bool-flag sanitizer-coverage-pc-table sanitizer-coverage-prune-blocks
sanitizer-coverage-stack-depth sanitizer-coverage-trace-compares sanitizer-coverage-trace-divs
sanitizer-coverage-trace-geps sanitizer-coverage-trace-loads sanitizer-coverage-trace-pc
sanitizer-coverage-trace-pc-guard sanitizer-coverage-trace-stores sanitizer-metadata-atomics
sanitizer-metadata-covered sanitizer-metadata-nosanitize-attr sanitizer-metadata-uar
sanitizer-metadata-weak-callbacks save-temp-labels sbvec-allow-non-pow2 sbvec-print-pass-pipeline
scalar-evolution-classify-expressions scalar-evolution-complexity-control
scalar-evolution-finite-loop scalar-evolution-use-context-for-no-wrap-flag-strenghening
scalar-evolution-use-expensive-range-sharpening scale-partial-sample-profile-working-set-size
sccp-use-bfs scev-avoid-type-conversions-larger scev-cgp-check-latency scev-verify-ir
sched-model-force-enable-intervals scheditins schedmodel sep-comp
separate-geps-clone-definition-point separate-named-sections set-dbg-loc-new-branch
show-fs-branchprob simple-loop-unswitch-drop-non-trivial-implicit-null-checks
simple-loop-unswitch-guards simple-loop-unswitch-inject-invariant-conditions simplify-mir
simplifycfg-hoist-common simplifycfg-hoist-cond-stores
simplifycfg-hoist-loads-stores-with-cond-faulting simplifycfg-merge-compatible-invokes
simplifycfg-merge-cond-stores simplifycfg-merge-cond-stores-aggressively
simplifycfg-perfect-switch-folding simplifycfg-require-and-preserve-domtree
simplifycfg-sink-common sink-check-sched sink-common-insts sink-insts-to-avoid-spills
sink-ld-param sink-single-only skip-partial-inlining-cost-analysis skip-ret-exit-block
skiploweraggcopysafechk slp-revec slp-skip-early-profitability-check
slp-split-alternate-instructions slp-vectorize-hor slp-vectorize-hor-store
slp-vectorize-non-power-of-2 slsr-simplest-form slsr-variable-delta-reuse sort-profiled-scc-member
sort-timers spec-exec-only-if-divergent-target special-reassociate-for-threadid
speculate-one-expensive-inst speculate-unpredictables speculative-counter-promotion-to-loop
split-dwarf-cross-cu-references split-gep-chain split-machine-functions split-static-data
split-stores spp-all-backedges spp-no-backedge spp-no-call spp-no-entry spp-print-base-pointers
spp-print-liveset spp-print-liveset-size spp-split-backedge sroa-builder-prepass
sroa-replace-bitwise-integer sroa-skip-mem2reg stack-safety-print stack-safety-run
stack-size-section stack-symbol-ordering stackcoloring-lifetime-start-on-first-use stackrealign
static-func-full-module-prefix stats stats-json store-to-load-forwarding-conflict-detection
stress-cgp-ext-ld-promotion stress-cgp-store-extract stress-early-ifcvt strict-aliasing
strict-dwarf strip-debug strip-global-constants strong-global-assumptions
structurizecfg-relaxed-uniform-regions structurizecfg-skip-uniform-regions supports-hot-cold-new
switch-range-to-icmp switch-to-lookup tail-dup-placement tail-dup-verify tailcallopt terminal-rule
thinlto-bc thinlto-split-lto-unit time-passes time-passes-per-run time-trace topo-sort-begin
track-indir-load track-int2ptr track-memory track-trip-count-more trap-unreachable
treat-scalable-fixed-error-as-warning trim-var-locs try-experimental-debuginfo-iterators
tsan-compound-read-before-write tsan-distinguish-volatile tsan-handle-cxx-exceptions
tsan-instrument-atomics tsan-instrument-func-entry-exit tsan-instrument-memintrinsics
tsan-instrument-memory-accesses tsan-instrument-read-before-write twoaddr-reschedule
tysan-writes-always-set-type unified-lto unique-basic-block-section-names unique-section-names
unroll-allow-loop-nests-peeling unroll-allow-partial unroll-allow-peeling unroll-allow-remainder
unroll-count-extern-indirect-call-as-inline unroll-remainder unroll-remainder-auto
unroll-revisit-child-loops unroll-runtime unroll-runtime-convergent unroll-runtime-epilog
unroll-runtime-multi-exit unroll-runtime-nv-expensive unroll-runtime-other-exit-predictable
unroll-verify-domtree unroll-verify-loopinfo unswitch-uniform-only update-pseudo-probe
use-constant-fp-for-fixed-length-splat use-constant-fp-for-scalable-splat
use-constant-int-for-fixed-length-splat use-constant-int-for-scalable-splat use-ctors
use-dereferenceable-at-point-semantics use-dwarf-ranges-base-address-specifier use-gnu-debug-macro
use-ias use-iterative-bfi-inference use-leb128-directives use-lir-code-size-heurs
use-max-local-array-alignment use-mbpi use-noalias-intrinsic-during-inlining
use-profiled-call-graph use-registers-for-deopt-values use-registers-for-gc-values-in-landing-pad
use-segment-set-for-physregs use-source-filename-for-promoted-locals use-tbaa-in-sched-mi uumn
vasp-fix2 vec-extabi vect-align-scev vect-extend-loads vect-fill-gaps vect-intrinsics
vect-split-aggr vect-split-aggr-merge vectorize-loops vectorize-slp vectorizer-maximize-bandwidth
vectorizer-maximize-bandwidth-for-vector-calls verify-after-all verify-analysis-invalidation
verify-assumption-cache verify-cfiinstrs verify-coalescing verify-debuginfo-preserve
verify-dom-info verify-each verify-each-debuginfo-preserve verify-loop-info verify-loop-lcssa
verify-machine-dom-info verify-machineinstrs verify-matrix-shapes verify-memoryssa verify-misched
verify-noalias-scope-decl-dom verify-predicateinfo verify-pseudo-probe verify-regalloc
verify-region-info verify-scev verify-scev-strict verify-update-mcse verify-update-remat
view-edge-bundles view-slp-tree vp-static-alloc vplan-build-stress-test vplan-print-in-dot-format
vplan-verify-each w waterfall-unrolling waterfall-unrolling-force-epilogue
waterfall-unrolling-remove-epilogue-backedge whole-program-visibility
wholeprogramdevirt-keep-unreachable-function wholeprogramdevirt-print-index-based
wmma-memory-space-opt write-experimental-debuginfo
write-experimental-debuginfo-iterators-to-bitcode write-relbf-to-summary x86-relax-relocations
x86-sse2avx xcoff-traceback-table xray-function-index
)"},
    {Kind::kBoolean, Scope::kProgram, R"(
nvptx-f32ftz
)"},
    {Kind::kChoice, Scope::kLibrary, R"(
Ofast-compile:0|min|mid|max accel-tables:Default|Disable|Apple|Dwarf
asan-constructor-kind:none|global asan-destructor-kind:none|global
asan-use-after-return:never|runtime|always attributor-enable:all|module|cgscc|none
cgscc-inline-replay-fallback:Original|AlwaysInline|NeverInline
cgscc-inline-replay-format:Line|LineColumn|LineDiscriminator|LineColumnDiscriminator
cgscc-inline-replay-scope:Function|Module code-model:tiny|small|kernel|medium|large
cost-kind:throughput|latency|code-size|size-latency|all
cspgo-kind:nocspgo|cspgo-instr-gen-pipeline|cspgo-instr-use-pipeline
ctx-profile-printer-level:everything|yaml
debug-counter:coalescing-counter|dagcombine|instcombine-negator|assume-queries-counter|machine-cp-fwd|dot-counter|slp-vectorized|predicateinfo-rename|assume-builder-counter|slsr-counter|partially-inline-libcalls-transform|newgvn-vn|newgvn-phi|early-cse|div-rem-pairs-transform|dse-memoryssa|dce-transform|conds-eliminated|num-abstract-attributes|attributor-manifest|msan-insert-check|msan-instrument-instruction|instcombine-visit
debug-pass:Disabled|Arguments|Structure|Executions|Details debug-pass-manager:quiet|verbose
debugger-tune:gdb|lldb|dbx|sce debugify-level:locations|location+variables
denormal-fp-math:ieee|preserve-sign|positive-zero|dynamic
denormal-fp-math-f32:ieee|preserve-sign|positive-zero|dynamic
disable-hoisting-to-hotter-blocks:none|pgo|all dwarf-extended-loc:Default|Enable|Disable
dwarf-inlined-strings:Default|Enable|Disable dwarf-linkage-names:Default|All|Abstract
dwarf-op-convert:Default|Enable|Disable dwarf-sections-as-references:Default|Enable|Disable
emit-dwarf-unwind:always|no-compact-unwind|default enable-machine-outliner:always|never
enable-ml-inliner:default|development|release exception-model:default|dwarf|sjlj|arm|wineh|wasm
expand-variadics-override:unspecified|disable|optimize|lowering
extra-print-after-all:regs|fnsize|modsize|<empty> filetype:asm|obj|null
float-abi:default|soft|hard force-summary-edges-cold:none|all-non-critical|all
force-tail-folding-style:none|data|data-without-lane-mask|data-and-control|data-and-control-without-rt-check|data-with-evl
fp-contract:fast|on|off frame-pointer:all|non-leaf|reserved|none global-isel-abort:0|1|2
hwasan-mapping-offset-dynamic:global|ifunc|tls hwasan-record-stack-history:none|instr|libcall
inline-priority-mode:size|cost|cost-benefit|ml inliner-function-import-stats:basic|verbose
intrinsic-cost-strategy:instruction-cost|intrinsic-cost|type-based-intrinsic-cost
loop-fusion-dependence-analysis:scev|da|all loop-idiom-vectorize-style:masked|predicated
lowertypetests-drop-type-tests:none|assume|all lowertypetests-summary-action:none|import|export
lsr-preferred-addressing-mode:none|preindexed|postindexed
matrix-default-layout:column-major|row-major meabi:default|4|5|gnu
memprof-dot-scope:all|alloc|context minimize-addr-in-v5:Default|Ranges|Expressions|Form|Disabled
misched:default|converge|ilpmax|ilpmin misched-postra-direction:topdown|bottomup|bidirectional
misched-prera-direction:topdown|bottomup|bidirectional
ml-inliner-skip-policy:never|if-caller-not-cold
pgo-analysis-map:none|func-entry-count|bb-freq|br-prob|all
pgo-cold-func-opt:default|optsize|minsize|optnone
pgo-kind:nopgo|pgo-instr-gen-pipeline|pgo-instr-use-pipeline|pgo-sample-use-pipeline
pgo-view-counts:none|graph|text pgo-view-raw-counts:none|graph|text
pre-RA-sched:default|vliw-td|list-burr|source|list-hybrid|list-ilp|fast|linearize
prefer-predicate-over-epilogue:scalar-epilogue|predicate-else-scalar-epilogue|predicate-dont-vectorize
print-changed:quiet|diff|diff-quiet|cdiff|cdiff-quiet|dot-cfg|dot-cfg-quiet
print-region-style:none|bb|rn profile-correlate:<empty>|debug-info|binary
regalloc:basic|pbqp|default|greedy|fast regalloc-enable-advisor:default|release|development
regalloc-enable-priority-advisor:default|release|development|dummy
relocation-model:static|pic|dynamic-no-pic|ropi|rwpi|ropi-rwpi
replexitval:never|cheap|unusedindvarinloop|noharduse|always
sample-profile-inline-replay-fallback:Original|AlwaysInline|NeverInline
sample-profile-inline-replay-format:Line|LineColumn|LineDiscriminator|LineColumnDiscriminator
sample-profile-inline-replay-scope:Function|Module scalable-vectorization:off|preferred|on
split-spill-mode:default|size|speed swift-async-fp:auto|always|never thread-model:posix|single
use-unknown-locations:Default|Enable|Disable
vector-library:none|Accelerate|Darwin_libsystem_m|LIBMVEC-X86|MASSV|SVML|sleefgnuabi|ArmPL|AMDLIBM
view-block-freq-propagation-dags:none|fraction|integer|count
view-block-layout-with-bfi:none|fraction|integer|count
view-machine-block-freq-propagation-dags:none|fraction|integer|count
wholeprogramdevirt-check:none|trap|fallback wholeprogramdevirt-summary-action:none|import|export
window-sched:off|on|force
)"},
    {Kind::kInteger, Scope::kLibrary, R"(
agg-antidep-debugdiv agg-antidep-debugmod asan-debug asan-debug-max asan-debug-min
asan-debug-stack asan-instrumentation-with-call-threshold asan-mapping-scale asan-max-ins-per-bb
attributor-max-potential-values-iterations base-address-strength-reduce-iv-limit
base-address-strength-reduce-max-iv branch-dist-block-limit branch-dist-func-limit
cold-callsite-rel-freq coldcc-rel-freq cost-threshold-remat csuses-threshold
dfa-sched-reg-pressure-threshold dfsan-instrument-with-call-threshold dfsan-track-origins
disable-passno do-base-address-strength-reduce do-base-address-strength-reduce-chain
do-clone-for-ip-msp do-function-scev-cgp do-scev-cgp dump-base-address-strength-reduce dump-ip-msp
dump-process-builtin-assume dump-scev-cgp dwarf-version fast-isel-abort fca-size gvn-hoist-max-bbs
gvn-hoist-max-chain-length gvn-hoist-max-depth gvn-max-hoisted heavy-const-expr-size
hoistphiconsts hot-callsite-threshold hotcoldsplit-cold-probability-denom hotcoldsplit-max-params
hotcoldsplit-threshold hwasan-match-all-tag hwasan-percentile-cutoff-hot
icp-max-num-vtable-last-candidate ifcvt-fn-start ifcvt-fn-stop ifcvt-limit
imp-null-check-page-size import-cutoff inline-adj-budget1 inline-budget inline-call-penalty
inline-cold-callsite-threshold inline-deferral-scale inline-instr-cost inline-maxswitchcases
inline-memaccess-cost inline-numswitchfunc inline-savings-multiplier
inline-savings-profitable-multiplier inline-size-allowance inline-threshold inline-total-budget
inlinecold-threshold inlinedefault-threshold inlinehint-threshold intra-scc-cost-multiplier
ldstmemcpy-glue-max locally-hot-callsite-threshold loop-interchange-threshold
lower-allow-check-percentile-cutoff-hot max-counter-promotions max-heap-to-stack-size
max-partial-inlining max-sched-reorder memprof-debug memprof-debug-max memprof-debug-min
memprof-mapping-granularity memprof-mapping-scale module-inliner-top-priority-threshold
msan-disambiguate-warning-threshold msan-instrumentation-with-call-threshold
msan-poison-stack-pattern msan-track-origins no-split-stores-above no-split-stores-below
non-global-value-max-name-size normalize-gep nvptx-prec-divf32 opt-bisect-limit opt-bisect-skip
outline-region-freq-percent pass-control pgso-cutoff-instr-prof pgso-cutoff-sample-prof
pipeliner-force-ii pipeliner-force-issue-width pipeliner-ii-search-range pipeliner-max-mii
pipeliner-max-stages pipeliner-register-pressure-margin postra-sched-debugdiv
postra-sched-debugmod pred-target-adjust preinline-threshold print-regmask-num-regs
process-restrict profile-summary-cutoff-cold profile-summary-cutoff-hot reg-target-adjust
reuse-lmem-very-long-live-range rp-remat sample-profile-cold-inline-threshold
sample-profile-hot-inline-threshold sample-profile-inline-growth-limit
sample-profile-inline-limit-max sample-profile-inline-limit-min sanitizer-coverage-level
sbvec-cost-threshold sccp-max-range-ext scev-cgp-control scev-cgp-inst-limit scev-cgp-norm
scev-cgp-old-base scev-cgp-tid-max-value sched-high-latency-cycles
simplifycfg-max-small-block-size sink-into-texture sink-limit slp-max-look-ahead-depth
slp-max-reg-size slp-max-root-look-ahead-depth slp-min-reg-size slp-schedule-budget slp-threshold
spp-counted-loop-trip-width ssc-dce-limit stack-safety-max-iterations stackmap-version
unswitch-num-initial-unscaled-candidates unswitch-siblings-toplevel-div unswitch-threshold
unswitch-threshold-unroll usedessa
)"},
    {Kind::kInteger, Scope::kProgram, R"(
maxreg register-usage-level split-compile split-compile-extended
)"},
    {Kind::kLong, Scope::kLibrary, R"(
asan-mapping-offset block-freq-cap-remat block-freq-norm-range-remat cgp-freq-ratio-to-skip-merge
debugify-func-limit grow-region-complexity-budget hot-callsite-rel-freq hwasan-mapping-offset
hwasan-max-lifetimes-for-alloca inline-max-stacksize large-data-threshold
mem-intrinsic-expand-size msan-and-mask msan-origin-base msan-shadow-base msan-xor-mask
pgo-cold-instrument-entry-threshold profile-summary-cold-count profile-summary-hot-count
profile-symbol-list-cutoff recursive-inline-max-stacksize rng-seed sbvec-stop-at sbvec-stop-bndl
sroa-size-limit
)"},
    {Kind::kNumber, Scope::kLibrary, R"(
cdsort-distance-power cdsort-frequency-scale cfg-hide-cold-paths chr-bias-threshold
cold-branch-ratio collect-candidate-scale-remat ext-tsp-backward-weight-cond
ext-tsp-backward-weight-uncond ext-tsp-fallthrough-weight-cond ext-tsp-fallthrough-weight-uncond
ext-tsp-forward-weight-cond ext-tsp-forward-weight-uncond ext-tsp-max-merge-density-ratio
global-merging-call-overhead global-merging-extra-threshold global-merging-inst-overhead
global-merging-param-overhead hwasan-random-rate icp-vtable-percentage-threshold
import-cold-multiplier import-critical-multiplier import-hot-evolution-factor
import-hot-multiplier import-instr-evolution-factor iterative-bfi-precision
licm-versioning-invariant-threshold loop-predication-latch-probability-scale
lower-allow-check-random-rate memprof-lifetime-access-density-cold-threshold min-region-size-ratio
ml-advisor-size-increase-threshold openmp-ir-builder-unroll-threshold-factor
partial-sample-profile-working-set-size-scale-factor vp-counters-per-site
)"},
    {Kind::kText, Scope::kLibrary, R"(
R aa-pipeline as-secure-log-file asan-debug-func asan-memory-access-callback-prefix
attributor-depgraph-dot-filename-prefix basic-block-sections bbsections-cold-text-prefix
break-anti-dependencies callgraph-dot-filename-basename callgraph-dot-filename-prefix
cfg-dot-filename-prefix cfg-func-name cgscc-inline-replay check-functions-filter chr-function-list
chr-module-list codegen-data-use-path crash-diagnostics-dir cs-profilegen-file data-layout
debugify-export default-gcov-version dfsan-abilist dfsan-combine-taint-lookup-table
disable-builtin disable-opt-set-global-array-alignment disable-opt-set-shared-array-alignment
disable-verify dot-cfg-after-color dot-cfg-before-color dot-cfg-common-color dot-cfg-dir
dot-cfg-mssa dot-ddg-filename-prefix exec-on-ir-change expandvp-override-evl-transform
expandvp-override-mask-transform extract-blocks-file filter-passes filter-print-funcs
force-attribute force-remove-attribute forceattrs-csv-path fs-profile-file fs-remapping-file
hotcoldsplit-cold-section-name hwasan-memory-access-callback-prefix icp-ignored-base-types
info-output-file inliner-interactive-channel-base instrument-cold-function-only-path
internalize-public-api-file internalize-public-api-list ir-dump-directory load load-pass-plugin
lowertypetests-read-summary lowertypetests-write-summary march mattr mcfg-dot-filename-prefix
mcfg-func-name mcpu memory-profile-file memprof-debug-func memprof-dot-file-path-prefix
memprof-import-summary memprof-memory-access-callback-prefix memprof-runtime-default-options
ml-inliner-model-selector module-summary-dot-file mtriple no-branch-dist nsan-shadow-type-mapping
nvptx-lower-global-ctor-dtor-id opt-bisect-funcs opt-bisect-print-ir-path opt-fdiv
orderfile-write-mapping pass-remarks pass-remarks-analysis pass-remarks-filter pass-remarks-format
pass-remarks-hotness-threshold pass-remarks-missed pass-remarks-output
passes-ep-cgscc-optimizer-late passes-ep-full-link-time-optimization-early
passes-ep-full-link-time-optimization-last passes-ep-late-loop-optimizations
passes-ep-loop-optimizer-end passes-ep-optimizer-early passes-ep-optimizer-last passes-ep-peephole
passes-ep-pipeline-early-simplification passes-ep-pipeline-start passes-ep-scalar-optimizer-late
passes-ep-vectorizer-end passes-ep-vectorizer-start pgo-test-profile-file
pgo-test-profile-remapping-file pgo-trace-func-hash print-after print-before print-bfi-func-name
print-bpi-func-name print-changed-diff-path print-changed-dot-path print-func-reg-mcse
print-func-reg-remat print-on-crash-path proffile profile-context-root profile-file
profile-remapping-file regalloc-evict-interactive-channel-base
regalloc-priority-interactive-channel-base rename-exclude-alias-prefixes
rename-exclude-function-prefixes rename-exclude-global-prefixes rename-exclude-struct-prefixes
rewrite-map-file sample-profile-file sample-profile-inline-replay sample-profile-remapping-file
sbvec-allow-files sbvec-collect-seeds sbvec-passes select-kernel-list
split-compile-bucket-threshold split-compile-debug split-compile-disable-binpack start-after
start-before stop-after stop-before summary-file target-abi thin-link-bitcode-file
thinlto-workload-def time-trace-file trap-func use-ctx-profile vec-only-func
verify-di-preserve-export verify-pseudo-probe-funcs view-bfi-func-name
wholeprogramdevirt-read-summary wholeprogramdevirt-skip wholeprogramdevirt-write-summary
)"},
    {Kind::kUnsigned, Scope::kLibrary, R"(
aggressive-instcombine-max-scan-instrs aggressive-max-aggr-lower-size
aggressive-runtime-unrolling-fixed-factor aggressive-runtime-unrolling-max-factor
aggressive-runtime-unrolling-max-filler-instructions-per-batch alias-set-saturation-threshold
align-all-blocks align-all-functions align-all-nofallthru-blocks align-loops
arc-opt-max-ptr-states asan-force-experiment asan-max-inline-poisoning-size asan-realign-stack
asm-macro-max-nesting-depth attributor-max-initialization-chain-length attributor-max-iterations
attributor-max-potential-values attributor-max-specializations-per-call-base
available-load-scan-limit big-basic-block-instruction-threshold bitcode-flush-threshold
bitcode-mdindex-threshold block-freq-ratio-threshold block-freq-threshold-remat
block-placement-exit-block-bias bonus-inst-threshold branch-prob-lbh-trip-count cache-line-size
call-with-many-arguments-threshold callsite-splitting-duplication-threshold canon-nth-function
capture-tracking-max-uses-to-explore cdsort-cache-entries cdsort-cache-size cdsort-max-chain-size
cgp-max-address-users-to-scan cgpp-huge-func chr-dup-threshold chr-merge-threshold
codegen-opt-level cold-new-hint-value cold-operand-max-cost-multiplier cold-operand-threshold
combiner-store-merge-dependence-limit combiner-tokenfactor-inline-limit
consthoist-min-num-to-rebase constraint-elimination-max-rows cssa-verbosity
cvp-max-functions-per-value da-miv-max-level-threshold dag-maps-huge-region
dag-maps-reduction-size dataflow-edge-limit debug-ata-max-blocks default-trip-count
dfa-cost-threshold dfa-instr-limit dfa-max-num-paths dfa-max-num-visited-paths dfa-max-path-length
dom-conditions-max-uses dom-tree-reachability-max-bbs-to-explore
dse-memoryssa-defs-per-block-limit dse-memoryssa-otherbb-cost dse-memoryssa-partial-store-limit
dse-memoryssa-path-check-limit dse-memoryssa-samebb-cost dse-memoryssa-scanlimit
dse-memoryssa-walklimit dump-branch-dist early-ifcvt-limit earlycse-mssa-optimization-cap
epilogue-vectorization-force-VF epilogue-vectorization-minimum-VF expand-div-rem-bits
expand-fp-convert-bits ext-tsp-backward-distance ext-tsp-block-placement-max-blocks
ext-tsp-chain-split-threshold ext-tsp-forward-distance ext-tsp-max-chain-size
fast-cluster-threshold fixup-max-csr-statepoints flat-loop-tripcount-threshold
float2int-max-integer-bw force-target-instruction-cost force-target-max-scalar-interleave
force-target-max-vector-interleave force-target-num-scalar-regs force-target-num-vector-regs
force-vector-interleave force-vector-width fs-profile-debug-bw-threshold
fs-profile-debug-prob-diff-threshold func-profile-similarity-threshold
funcspec-max-block-predecessors funcspec-max-clones funcspec-max-codesize-growth
funcspec-max-discovery-iterations funcspec-max-incoming-phi-values funcspec-max-iters
funcspec-min-codesize-savings funcspec-min-function-size funcspec-min-inlining-bonus
funcspec-min-latency-savings fuse-matrix-tile-size global-merge-max-offset
global-merge-min-data-size global-merging-max-params global-merging-min-instrs
global-merging-min-merges guards-predicate-pass-branch-weight gvn-max-block-speculations
gvn-max-num-deps gvn-max-num-insns gvn-max-num-visited-insts hardware-loop-counter-bitwidth
hardware-loop-decrement has-predecessor-max-steps hoist-loads-stores-with-cond-faulting-threshold
hot-func-cutoff-for-staleness-error hot-new-hint-value huge-size-for-split icp-csskip icp-cutoff
icp-max-annotations icp-max-num-vtables icp-max-prom icp-remaining-percent-threshold
icp-total-percent-threshold ignore-call-safety imp-null-max-insts-to-consider import-instr-limit
instcombine-guard-widening-window instcombine-lower-dbg-declare
instcombine-max-copied-from-constant-users instcombine-max-num-phis instcombine-max-sink-users
instcombine-maxarray-size instcombine-negator-max-depth instcombine-simplify-vector-elts-depth
irce-loop-size-cutoff irce-max-type-size-for-overflow-check irce-min-eliminated-checks
iterative-bfi-max-iterations-per-block jump-inst-cost jump-table-density
jump-table-to-switch-function-size-threshold jump-table-to-switch-size-threshold
jump-threading-implication-search-threshold jump-threading-phi-threshold jump-threading-threshold
large-aggr-store-limit large-interval-freq-threshold large-interval-size-threshold
late-remat-update-threshold lcr-max-depth lcr-max-interf licm-hoist-bo-association-user-limit
licm-insn-limit licm-max-num-fp-reassociations licm-max-num-int-reassociations
licm-max-num-uses-traversed licm-mssa-max-acc-promotion licm-mssa-optimization-cap
licm-versioning-max-depth-threshold likely-branch-weight limit-float-precision
livedebugvalues-input-bb-limit livedebugvalues-input-dbg-value-limit
livedebugvalues-max-stack-slots loop-depth-threshold-remat loop-distribute-scev-check-threshold
loop-distribute-scev-check-threshold-with-pragma loop-flatten-cost-threshold
loop-fusion-peel-max-count loop-idiom-vectorize-bytecmp-vf loop-interchange-max-loop-nest-depth
loop-interchange-max-meminstr-count loop-interchange-min-loop-nest-depth
loop-load-elimination-scev-check-threshold loop-to-cold-block-ratio
lower-aggr-unrolled-stores-limit lsr-complexity-limit lsr-loop-level lsr-setupcost-depth-limit
lsv-max-chain-size machine-combiner-inc-threshold machine-outliner-reruns machine-sink-cycle-limit
machine-sink-load-blocks-threshold machine-sink-load-instrs-threshold
machine-sink-split-probability-threshold max-aggr-copy-size max-aggr-elems max-aggr-lower-size
max-booleans-in-control-flow-hub max-bytes-for-alignment max-chain-length max-chain-size
max-chain-width max-counter-promotions-per-loop max-deopt-or-unreachable-succ-check-depth
max-dependences max-devirt-iterations max-forked-scev-depth
max-inst-checked-for-throw-during-inlining max-interleave-group-factor max-jump-table-size
max-loads-per-memcmp max-loads-per-memcmp-opt-size max-nested-scalar-reduction-interleave
max-num-inline-blocks max-phi-entries-increase-after-removing-empty-block
max-pragma-upperbound-unroll max-prefetch-iters-ahead max-psr-path-length
max-registers-for-gc-values max-speculation-depth max-switch-cases-per-result max-uses-for-sinking
medium-basic-block-instruction-threshold mem-space-alg memchr-inline-threshold
memcmp-num-loads-per-block memdep-block-number-limit memdep-block-scan-limit memop-max-annotations
memop-value-prof-max-opt-size memory-check-merge-threshold memprof-ave-lifetime-cold-threshold
memprof-cloning-cold-threshold memprof-dot-alloc-id memprof-dot-context-id
memprof-matching-cold-threshold memprof-min-ave-lifetime-access-density-hot-threshold
memprof-tail-call-search-depth memssa-check-limit mergefunc-verify mfs-count-threshold
mfs-psi-cutoff min-block-execution min-call-count-for-cg-matching min-func-count-for-cg-matching
min-functions-for-staleness-error min-jump-table-entries min-page-size min-prefetch-stride
misched-limit misched-resource-cutoff misexpect-tolerance misfetch-cost mispredict-default-rate
mlregalloc-max-eviction-count move-auto-init-threshold notcold-new-hint-value nvptx-fma-level
nvptx-traverse-address-aliasing-limit object-size-offset-visitor-max-visit-instructions
openmp-opt-max-iterations openmp-opt-shared-limit optsize-jump-table-density
outliner-benefit-threshold partial-inlining-extra-penalty partial-unrolling-threshold
pgo-critical-edge-threshold pgo-function-size-threshold pgo-memop-count-threshold
pgo-memop-max-version pgo-memop-percent-threshold pgo-verify-bfi-cutoff pgo-verify-bfi-ratio
phi-node-folding-threshold phicse-num-phi-smallsize pragma-unroll-and-jam-threshold
pragma-unroll-full-max-iterations pragma-unroll-threshold pragma-vectorize-scev-check-threshold
precent-mismatch-for-staleness-error predictable-branch-threshold prefetch-distance
print-after-pass-number print-before-pass-number profile-likely-prob
profile-summary-huge-working-set-size-threshold profile-summary-large-working-set-size-threshold
psr-threshold recurrence-chain-limit regalloc-csr-first-time-cost
regalloc-eviction-max-interference-cutoff remat-loop-trip rewrite-phi-limit
rotation-max-header-size runtime-check-per-loop-load-elim runtime-memory-check-threshold
runtime-unroll-iter-threshold runtime-unroll-threshold salvage-stale-profile-max-callsites
sample-profile-check-record-coverage sample-profile-check-sample-coverage
sample-profile-icp-max-prom sample-profile-icp-relative-hotness
sample-profile-icp-relative-hotness-skip sample-profile-max-propagate-iterations
sample-profile-profi-cost-block-dec sample-profile-profi-cost-block-entry-dec
sample-profile-profi-cost-block-entry-inc sample-profile-profi-cost-block-inc
sample-profile-profi-cost-block-unknown-inc sample-profile-profi-cost-block-zero-inc
sampled-instr-burst-duration sampled-instr-period sbvec-seed-bundle-size-limit
sbvec-seed-groups-limit sbvec-vec-reg-bits scalar-evolution-huge-expr-threshold
scalar-evolution-max-add-items scalar-evolution-max-add-rec-size scalar-evolution-max-arith-depth
scalar-evolution-max-cast-depth scalar-evolution-max-constant-evolving-depth
scalar-evolution-max-expr-failures scalar-evolution-max-expr-size scalar-evolution-max-iterations
scalar-evolution-max-loop-guard-collection-depth scalar-evolution-max-recursion-depth
scalar-evolution-max-scc-analysis-depth scalar-evolution-max-scev-compare-depth
scalar-evolution-max-scev-operations-implication-depth scalar-evolution-max-value-compare-depth
scev-addops-inline-threshold scev-cgp-cross-block-limit scev-cgp-idom-level-limit
scev-cheap-expansion-budget scev-mulops-inline-threshold scev-range-iter-threshold sched-avg-ipc
select-kernel-range select-opti-loop-cycle-gain-threshold select-opti-loop-gradient-gain-threshold
select-opti-loop-relative-gain-threshold
simple-loop-unswitch-inject-invariant-condition-hotness-threshold
simple-loop-unswitch-memoryssa-threshold simplifycfg-branch-fold-common-dest-vector-multiplier
simplifycfg-branch-fold-threshold simplifycfg-hoist-common-skip-limit sink-freq-percent-threshold
skip-vec-bb-ge slp-max-stride slp-max-vf slp-min-strided-loads slp-min-tree-size
slp-recursion-max-depth small-loop-cost spec-exec-max-not-hoisted spec-exec-max-speculation-cost
speculative-counter-promotion-max-exiting split-threshold-for-reg-with-hint
spp-rematerialization-threshold static-func-strip-dirname-prefix static-likely-prob
stress-regalloc strncmp-inline-threshold switch-peel-threshold tail-dup-indirect-size
tail-dup-limit tail-dup-placement-aggressive-threshold tail-dup-placement-penalty
tail-dup-placement-threshold tail-dup-pred-size tail-dup-profile-percent-threshold tail-dup-size
tail-dup-succ-size tail-merge-size tail-merge-threshold temporal-reuse-threshold
time-trace-granularity tls-size triangle-chain-count two-entry-phi-node-folding-threshold
unlikely-branch-weight unroll-and-jam-count unroll-and-jam-threshold unroll-assumed-size
unroll-count unroll-force-peel-count unroll-full-max-count unroll-max-count
unroll-max-iteration-count-to-analyze unroll-max-percent-threshold-boost unroll-max-upperbound
unroll-optsize-threshold unroll-partial-threshold unroll-peel-count unroll-peel-max-count
unroll-threshold unroll-threshold-aggressive unroll-threshold-default unswitch-max-switch-cases
vect-get-underlying-maxlookup vector-combine-max-scan-instrs vectorize-memory-check-threshold
vectorize-num-stores-pred vectorize-scev-check-threshold vectorizer-min-trip-count
view-hot-freq-percent waterfall-unrolling-num-loops wholeprogramdevirt-branch-funnel-threshold
wholeprogramdevirt-cutoff window-diff-limit window-ii-coeff window-ii-limit window-region-limit
window-search-num window-search-ratio
)"},
    {Kind::kUnsigned, Scope::kProgram, R"(
value-tracking-max-depth
)"},
};

constexpr std::string_view kMeasured = R"(
aggressive-machine-cse aggressive-runtime-unrolling aggressive-runtime-unrolling-fixed-factor
aggressive-runtime-unrolling-max-factor
aggressive-runtime-unrolling-max-filler-instructions-per-batch dag-disable-combine
disable-branch-fold disable-inlining disable-lsr disable-machine-cse disable-post-opt
do-lsr-64-bit dom-conditions-max-uses enable-gvn-memdep enable-load-in-loop-pre enable-load-pre
enable-misched enable-pre expand-fp-convert-bits global-isel gvn-max-num-deps
incremental-update-mcse instcombine-split-gep-chain join-liveintervals lsr-complexity-limit
lsr-drop-solution lsr-loop-level max-aggr-copy-size maxreg memdep-block-scan-limit
nv-disable-loop-unrolling nvptx-emit-src nvptx-f32ftz nvptx-sched4reg opt-bisect-limit
opt-unsafe-algebra optimize-regalloc param-always-point-to-global pass-control
print-pipeline-passes register-usage-level rotation-max-header-size runtime-unroll-threshold
scalar-evolution-huge-expr-threshold scalar-evolution-max-add-items
scalar-evolution-max-arith-depth scalar-evolution-max-expr-size scev-addops-inline-threshold
scev-mulops-inline-threshold sink-single-only slsr-simplest-form split-compile
split-compile-extended split-gep-chain terminal-rule unroll-allow-remainder unroll-count
unroll-force-peel-count unroll-max-count unroll-partial-threshold unroll-peel-count
unroll-remainder unroll-runtime unroll-threshold-aggressive value-tracking-max-depth
waterfall-unrolling waterfall-unrolling-num-loops waterfall-unrolling-remove-epilogue-backedge
)";

// These show help, load or write files, or were seen to end the process.
constexpr std::string_view kUnsafe = R"(
R as-secure-log-file attributor-depgraph-dot-filename-prefix basic-block-sections
branch-prob-lbh-trip-count callgraph-dot-filename-basename callgraph-dot-filename-prefix
cfg-dot-filename-prefix cgscc-inline-replay crash-diagnostics-dir cs-profilegen-file debug-counter
debugify-export dot-cfg-mssa dot-ddg-filename-prefix extract-blocks-file fs-profile-file
fs-remapping-file h help help-hidden help-list help-list-hidden info-output-file
internalize-public-api-file ir-dump-directory load march mattr mcfg-dot-filename-prefix mcpu
memory-profile-file memprof-dot-file-path-prefix module-summary-dot-file
non-global-value-max-name-size pass-remarks-hotness-threshold pass-remarks-output
pgo-test-profile-file pgo-test-profile-remapping-file print-all-options print-options profile-file
profile-remapping-file rewrite-map-file sample-profile-file sample-profile-inline-replay
sample-profile-remapping-file stackmap-version summary-file thin-link-bitcode-file time-trace-file
verify-di-preserve-export version
)";
// clang-format on

constexpr KnobTable kTable = {.names = kNames, .measured = kMeasured, .unsafe = kUnsafe};

}  // namespace

const KnobTable& Llvm20Knobs() { return kTable; }

}  // namespace devlink::internal
