// SPDX-License-Identifier: Apache-2.0
//
// The knobs of libNVVM 13.0 for targets before sm_100, as its own list of options gives them; those
// that the list leaves out were found by trying. Made by the steps in docs/optimiser-knobs.md.
#include "lto/nvvm_knob_tables.h"

namespace devlink::internal {

namespace {

using Kind = NvvmKnobKind;
using Scope = NvvmKnobScope;

// clang-format off
constexpr KnobNames kNames[] = {
    {Kind::kBoolean, Scope::kLibrary, R"(
Disable-Add-to-Or Disable-unknown-trip-iv Om Osize W Werror adce-remove-control-flow
adce-remove-loops addr-sink-combine-base-gv addr-sink-combine-base-offs addr-sink-combine-base-reg
addr-sink-combine-scaled-reg addr-sink-new-phis addr-sink-new-select addr-sink-using-gep addrsig
aggregate-extracted-args aggressive-ext-opt aggressive-lsv aggressive-no-sink
aggressive-positive-stride-analysis allow-restrict-in-struct allow-unroll-and-jam
apply-multi-level-restrict as-secure-log-file-name asan-always-slow-path
asan-detect-invalid-pointer-pair asan-force-dynamic-shadow asan-globals asan-globals-live-support
asan-initialization-order asan-instrument-atomics asan-instrument-dynamic-allocas
asan-instrument-reads asan-instrument-writes asan-kernel asan-opt asan-opt-globals
asan-opt-same-temp asan-opt-stack asan-recover asan-redzone-byval-args
asan-skip-promotable-allocas asan-stack asan-stack-dynamic-alloca asan-use-after-return
asan-use-after-scope asan-use-private-alias asan-with-comdat asan-with-ifunc
asan-with-ifunc-suppress-remat asm-show-inst atomic-counter-update-promoted avoid-speculation
balance-dot-chain basic-dbe basicaa-recphi block-freq-cap-remat block-freq-norm-range-remat
block-freq-remat bounds-checking-single-trap branch-dist-norm branch-fold-placement
cgp-split-large-offset-gep cgp-type-promotion-merge check-red-pass check-sxtopt check-vn
combiner-global-alias-analysis combiner-split-load-index combiner-stress-load-slicing
combiner-use-tbaa compute-dead condsider-local-interval-cost consthoist-with-block-frequency
copy-prop-mcse costmodel-reduxcost count-sxt-opt-for-reg-pressure cssa-coalesce
cta-reconfig-aware-mrpa cta-reconfig-aware-rpa cvp-dont-process-adds da-delinearize
dag-disable-combine dag-dump-verbose data-sections debug-compile demote-catchswitch-only
devicefn-param-always-local dfsan-args-abi dfsan-combine-pointer-labels-on-load
dfsan-combine-pointer-labels-on-store dfsan-debug-nonzero-labels dfsan-preserve-alignment
disable-2addr-hack disable-adv-copy-opt disable-attrib-transplant disable-basicaa
disable-block-placement disable-branch-fold disable-cgp disable-cgp-branch-opts
disable-cgp-ext-ld-promotion disable-cgp-gc-opts disable-cgp-select2branch
disable-cgp-store-extract disable-cleanups disable-complex-addr-modes disable-complex-branch-dist
disable-constant-hoisting disable-copyprop disable-debug-info-print disable-demotion
disable-dfa-sched disable-early-ifcvt disable-early-taildup disable-fp-cast-opt disable-fp-elim
disable-icp disable-ifcvt-diamond disable-ifcvt-forked-diamond disable-ifcvt-simple
disable-ifcvt-simple-false disable-ifcvt-triangle disable-ifcvt-triangle-false
disable-ifcvt-triangle-false-rev disable-ifcvt-triangle-rev disable-inlined-alloca-merging
disable-ipo-derefinement disable-jump-threading disable-ldst-upsizing disable-lftr
disable-libcalls-shrinkwrap disable-licm-promotion disable-load-select-transform disable-lsr
disable-lsr-complexity-discount disable-lsr-for-sharedmem32-ptr disable-machine-cse
disable-machine-dce disable-machine-licm disable-machine-sink disable-memop-opt disable-mergeicmps
disable-mr-partial-inlining disable-non-allocatable-phys-copy-opt disable-nounwind-inference
disable-nvptx-load-store-vectorizer disable-nvptx-require-structured-cfg
disable-ondemand-mds-loading disable-opt-set-global-array-alignment
disable-opt-set-shared-array-alignment disable-partial-inlining disable-partial-libcall-inlining
disable-peephole disable-phi-elim-edge-splitting disable-post-opt disable-post-ra
disable-postra-machine-licm disable-postra-machine-sink disable-preheader-prot disable-preinline
disable-rsqrt-opt disable-sched-critical-path disable-sched-cycles disable-sched-hazard
disable-sched-height disable-sched-live-uses disable-sched-physreg-join disable-sched-reg-pressure
disable-sched-stalls disable-sched-vrcycle disable-select-kernels
disable-separate-const-offset-from-gep disable-set-array-alignment
disable-set-global-array-alignment disable-set-local-array-alignment
disable-set-shared-array-alignment disable-sink disable-spill-hoist disable-sroa-padding-check
disable-ssc disable-symbolication disable-tail-calls disable-tail-duplicate
disable-unknown-trip-lsr disable-verify disable-vp do-comdat-renaming do-counter-promotion
do-ip-msp do-licm do-lsr-64-bit do-scev-cgp-aggresively do-sign-ext-expand do-sign-ext-simplify
drvcuda drvnvcl dump-before-cssa dump-conv-dot dump-conv-func dump-conv-text
dump-ir-after-memory-space-opt dump-ir-before-memory-space-opt dump-memory-space-warnings
dump-normalize-gep dump-process-restrict dump-simplify-live-out dump-sink2 dump-va
early-live-intervals eliminate-redundant-movs emulated-tls enable-aa-sched-mi
enable-andcmp-sinking enable-bfi64 enable-block-placement-stats enable-coldcc-stress-test
enable-cond-stores-vec enable-cvp enable-deferred-spilling enable-dot enable-double-float-shrink
enable-dse-partial-overwrite-tracking enable-dse-partial-store-merging enable-earlycse-memssa
enable-gvn-hoist enable-gvn-sink enable-if-conversion enable-implicit-null-checks
enable-import-metadata enable-ind-var-reg-heur enable-interleaved-mem-accesses enable-ipra
enable-legalize-types-checking enable-linkonceodr-outlining enable-llvm-gvn-hoist enable-load-pre
enable-loadstore-runtime-interleave enable-local-reassign enable-loop-distribute
enable-loop-versioning-licm enable-loopinterchange enable-lsr-phielim enable-mcse
enable-mem-access-versioning enable-memcpy-dag-opt enable-misched enable-mlicm
enable-mssa-loop-dependency enable-name-compression enable-new-nvvm-remat enable-newgvn
enable-no-infs-fp-math enable-no-nans-fp-math enable-no-signed-zeros-fp-math
enable-no-trapping-fp-math enable-noalias-to-md-conversion enable-nonnull-arg-prop
enable-nontrivial-unswitch enable-nvvm-peephole enable-objc-arc-opts enable-partial-inlining
enable-patchpoint-liveness enable-phi-of-ops enable-pipeliner enable-pipeliner-opt-size
enable-post-misched enable-pre enable-scoped-noalias enable-selectiondag-sp enable-shrink-wrap
enable-sign-dependent-rounding-fp-math enable-simple-loop-unswitch enable-sink
enable-split-backedge-in-load-pre enable-store-refinement enable-subreg-liveness enable-tail-merge
enable-tbaa enable-unroll-and-jam enable-unsafe-fp-math enable-unsafe-globalsmodref-alias-results
enable-vplan-native-path esan-assume-intra-cache-line esan-aux-field-info esan-cache-frag
esan-instrument-fastpath esan-instrument-loads-and-stores esan-instrument-memintrinsics
esan-working-set evaluate-aa-metadata exhaustive-register-search expensive-combines
extra-vectorizer-passes extract-blocks-erase-funcs fast-isel fast-isel-report-on-fallback
fast-isel-sink-local-values fatal-warnings filter-bad-formula fold-with-var-cond
force-loop-cold-block force-precise-rotation-cost force-sampler-handle force-split-store
force-surface-handle force-texture-handle forward-switch-cond fp-remat full-inst-combine
function-sections gcov-exit-block-before-body generate-arange-section generate-line-info
generate-type-units global-isel gvn-dom-cache hash-based-counter-split high-cost-remat
hoist-cheap-insts hoist-const-stores hoist-load-param hwasan-generate-tags-with-calls
hwasan-instrument-atomics hwasan-instrument-reads hwasan-instrument-stack
hwasan-instrument-with-calls hwasan-instrument-writes hwasan-kernel hwasan-recover
hwasan-uar-retag-to-zero icp-call-only icp-dumpafter icp-invoke-only icp-lto icp-samplepgo
ifcvt-branch-fold ignore-32-bit-overflow ignore-address-space-check ignore-bad-base ignore-bad-fp
ignore-phi-overhead ignore-signed-32-bit-overflow ignore-variance-cond imply-fp-condition
import-all-index import-full-type-definitions incremental-linker-compatible
incremental-update-mcse incremental-update-remat indvars-post-increment-ranges initlocals
inline-asm-remat inline-cost-full inline-switchctrl irce-allow-unsigned-latch
irce-print-changed-loops irce-print-range-checks irce-skip-profitability-checks
iterative-counter-promotion iv-skip-sxt join-globalcopies join-liveintervals join-splitedges
jump-is-expensive jump-threading-disable-select-unfolding keep-loops ldg ldst-vector
line-info-inlined-at live-debug-variables llc-disable-allopts lnk-disable-allopts load-remat
loop-distribute-non-if-convertible loop-distribute-verify loop-predication-enable-count-down-loop
loop-predication-enable-iv-truncation loop-predication-skip-profitability-checks
loop-prefetch-writes loop-vectorize-with-block-frequency loop-version-annotate-no-alias
lower-func-args lower-interleaved-accesses lower-read-only-devicefn-byval
lowertypetests-avoid-reuse lsa-opt lsr-check-rp lsr-exp-narrow lsr-filter-same-scaled-reg
lsr-fix-iv-inc lsr-insns-cost lsr-skip-outer-loop machine-combiner-dump-subst-intrs
machine-combiner-verify-pattern-order machine-sink-bfi machine-sink-split mc-relax-all
memdep-cache-byval-loads memdep-cache-candidates memdep-cache-candidates-verify memory-space-opt
mergefunc-preserve-debug-info misched-bottomup misched-cluster misched-cyclicpath misched-dcpl
misched-postra misched-regpressure misched-topdown msan-check-access-address
msan-check-constant-shadow msan-dump-strict-instructions msan-handle-asm-conservative
msan-handle-icmp msan-handle-icmp-exact msan-keep-going msan-poison-stack
msan-poison-stack-with-call msan-poison-undef msan-with-comdat no-deprecated-warn
no-discriminators no-dwarf-pub-sections no-dwarf-ranges-section no-pgo-warn-mismatch
no-pgo-warn-mismatch-comdat no-phi-elim-live-out-early-exit no-stack-coloring
no-stack-slot-sharing no-warn no-warn-sample-unused nozero-initialized-in-bss nv-cuda
nv-disable-mem2reg nv-disable-new-remat nv-disable-remat nv-disable-scev-cgp nv-dump-remat-block
nv-inline-all nv-ocl nv-remat-check-internal-live nvptx-add-scalar-move-for-vector-load
nvptx-emit-src nvptx-enable-machine-sink nvptx-kernel-params-restrict nvptx-no-f16-math
nvptx-prec-sqrtf32 nvptx-rsqrt-approx-opt nvptx-sched4reg nvptx-short-ptr nvvm-lower-printf
nvvm-reflect-enable nvvm-verify-show-info only-simple-regions opt-action-remat opt-fdiv
opt-no-signed-zeros opt-unsafe-algebra opt-use-fast-math opt-use-prec-div optimize-regalloc
param-always-point-to-global partial-sink pbqp-coalescing pgo-emit-branch-prob pgo-instr-memop
pgo-instr-select pgo-memop-scale-count pgo-warn-missing-function phi-elim-split-all-critical-edges
pi-force-live-exit-outline pi-mark-coldcc pie-copy-relocations pipeliner-ignore-recmii
pipeliner-prune-deps pipeliner-prune-loop-carried post-RA-scheduler precise-rotation-cost
pred-aware-mcse prepare-for-thinlto preprocess-remat
preserve-alignment-assumptions-during-inlining print-after-scev-cgp print-all-alias-modref-info
print-bfi print-bpi print-gc print-imports print-isel-input print-loop-func-scope print-lsr-output
print-lvi-after-jump-threading print-machine-bfi print-may-aliases print-mod print-modref
print-module-scope print-must print-must-aliases print-mustmod print-mustmodref print-mustref
print-no-aliases print-no-modref print-partial-aliases print-ref print-reg-target print-regusage
print-schedule print-summary-global-ids print-verify print-verify-remat process-alloca-always
process-builtin-assume profile-generate profile-guided-section-prefix profile-sample-accurate
profusegvn profuseinline protect-from-escaped-allocas reassociate-geps-verify-no-dead-code
relax-elf-relocations remat-ignore-single-cost remat-load-param remat-move
reorder-sext-before-cnst-add reroll-loops rp-aware-mcse rs4gc-allow-statepoint-with-no-deopt-info
rs4gc-clobber-non-live run-slp-after-loop-vectorization safe-stack-coloring safe-stack-layout
safepoint-ir-verifier-print-only safestack-use-pointer-address
sanitizer-coverage-inline-8bit-counters sanitizer-coverage-pc-table
sanitizer-coverage-prune-blocks sanitizer-coverage-stack-depth sanitizer-coverage-trace-compares
sanitizer-coverage-trace-divs sanitizer-coverage-trace-geps sanitizer-coverage-trace-pc
sanitizer-coverage-trace-pc-guard scalarize-load-store scev-cgp-check-latency scheditins
schedmodel simplify-mir simplifycfg-dup-ret simplifycfg-hoist-cond-stores
simplifycfg-merge-cond-stores simplifycfg-merge-cond-stores-aggressively simplifycfg-sink-common
sink-check-sched sink-common-insts sink-insts-to-avoid-spills sink-ld-param sink-single-only
skip-partial-inlining-cost-analysis skiploweraggcopysafechk slp-vectorize-hor
slp-vectorize-hor-store spec-exec-only-if-divergent-target speculate-one-expensive-inst
speculative-counter-promotion-to-loop split-dwarf-cross-cu-references split-gep-chain split-stores
spp-all-backedges spp-no-backedge spp-no-call spp-no-entry spp-print-base-pointers
spp-print-liveset spp-print-liveset-size spp-split-backedge sroa-random-shuffle-slices
sroa-strict-inbounds stack-size-section stack-symbol-ordering
stackcoloring-lifetime-start-on-first-use stackrealign static-func-full-module-prefix stats
stats-json store-to-load-forwarding-conflict-detection stress-cgp-ext-ld-promotion
stress-cgp-store-extract stress-early-ifcvt strict-aliasing strong-global-assumptions
structurizecfg-skip-uniform-regions switch-to-lookup tail-dup-placement tail-dup-verify
tailcallopt terminal-rule time-passes topo-sort-begin track-indir-load track-int2ptr track-memory
track-trip-count-more trap-unreachable traverse-address-aliasing tsan-handle-cxx-exceptions
tsan-instrument-atomics tsan-instrument-func-entry-exit tsan-instrument-memintrinsics
tsan-instrument-memory-accesses twoaddr-reschedule unique-section-names unroll-allow-partial
unroll-allow-peeling unroll-allow-remainder unroll-count-extern-indirect-call-as-inline
unroll-remainder unroll-revisit-child-loops unroll-runtime unroll-runtime-epilog
unroll-runtime-multi-exit unroll-verify-domtree use-ctors use-dbg-addr use-dispatcher
use-dwarf-ranges-base-address-specifier use-gvn-after-vectorization use-lir-code-size-heurs
use-max-local-array-alignment use-mbpi use-segment-set-for-physregs use-sroa use-tbaa-in-sched-mi
uumn va-use-scdg vasp-fix1 vasp-fix2 vect-fill-gaps vect-split-aggr vect-split-aggr-merge
vectorize-loops vectorize-slp vectorizer-maximize-bandwidth verify-after-all
verify-assumption-cache verify-cfiinstrs verify-coalescing verify-dom-info verify-indvars
verify-loop-info verify-loop-lcssa verify-machine-dom-info verify-machineinstrs verify-memoryssa
verify-misched verify-predicateinfo verify-regalloc verify-region-info verify-scev
verify-scev-maps verify-update-mcse verify-update-remat view-background view-edge-bundles
view-slp-tree vp-static-alloc vplan-build-stress-test vplan-verify-hcfg w wmma-memory-space-opt
write-relbf-to-summary
)"},
    {Kind::kBoolean, Scope::kProgram, R"(
O1 O2 O3 disable-AggressiveDCEPass disable-ArgumentPromotionPass
disable-BasicDeadBarrierEliminationPass disable-BranchDistPass disable-BreakCriticalEdgesPass
disable-CFGSimplificationPass disable-CondPropagationPass disable-ConstantMergePass
disable-DeadArgEliminationPass disable-DeadStoreEliminationPass disable-DeadTypeEliminationPass
disable-FunctionInliningReadNonePass disable-GVNPass disable-GlobalDCEPass
disable-GlobalOptimizerPass disable-IPSCCPPass disable-IndVarSimplifyPass
disable-InstructionCombiningPass disable-JumpThreadingPass disable-LICMPass
disable-LoadStoreVectorizerPass disable-LoopDeletionPass disable-LoopIdiomPass
disable-LoopIndexSplitPass disable-LoopRotatePass disable-LoopUnrollPass disable-LoopUnswitchPass
disable-LowerAggrCopies disable-LowerExpectIntrinsicPass disable-LowerOpsPass
disable-LowerStructArgsPass disable-MemorySpaceOptPass disable-NVVMIPMemorySpacePropagationPass
disable-PostOrderFunctionAttrsLegacyPass disable-ProcessRestrictPass
disable-PromoteMemoryToRegisterPass disable-PropagateAlignmentPass disable-PruneEHPass
disable-ReassociatePass disable-ReuseLocalMemoryPass disable-SCCPPass disable-SROAPass
disable-SetGlobalArrayAlignmentPass disable-SetLocalArrayAlignmentPass
disable-SignExtEliminatePass disable-SimplifyLibCallsPass disable-Sinking2Pass
disable-StripDeadPrototypesPass disable-TailCallEliminationPass disable-branch-dist
disable-branch-dist-before-inlining disable-break-critical-edges disable-inlining
disable-late-inlining disable-loop-index-splitting disable-loop-unswitching
disable-propagate-alignment disable-reuse-local-memory disable-struct-lowering
disable-triangular-unroll earlycse funit-at-a-time jobserver nvptx-f32ftz p rename-block
std-compile-opts strip-debug verify-each
)"},
    {Kind::kChoice, Scope::kLibrary, R"(
Ofast-compile:0|min|mid|max accel-tables:Default|Disable|Apple|Dwarf
asm-instrumentation:none|address code-model:small|kernel|medium|large
cost-kind:throughput|latency|code-size
debug-counter:dot-counter|machine-cp-fwd|coalescing-counter|predicateinfo-rename|newgvn-vn|newgvn-phi|early-cse|instcombine-visit|assume-queries-counter
debug-pass:Disabled|Arguments|Structure|Executions|Details debugger-tune:gdb|lldb|sce
denormal-fp-math:ieee|preserve-sign|positive-zero dwarf-extended-loc:Default|Enable|Disable
dwarf-inlined-strings:Default|Enable|Disable dwarf-linkage-names:Default|All|Abstract
dwarf-sections-as-references:Default|Enable|Disable enable-machine-outliner:always|never
exception-model:default|dwarf|sjlj|arm|wineh|wasm extra-print-after-all:regs|fnsize|modsize
filetype:asm|obj|null float-abi:default|soft|hard
force-summary-edges-cold:none|all-non-critical|all fp-contract:fast|on|off
inliner-function-import-stats:basic|verbose lowertypetests-summary-action:none|import|export
meabi:default|4|5|gnu misched:default|converge|ilpmax|ilpmin pgo-view-counts:none|graph|text
pgo-view-raw-counts:none|graph|text
pre-RA-sched:default|vliw-td|list-burr|source|list-hybrid|list-ilp|fast|linearize
print-region-style:none|bb|rn regalloc:default|pbqp|greedy|fast|basic
relocation-model:static|pic|dynamic-no-pic|ropi|rwpi|ropi-rwpi replexitval:never|cheap|always
split-spill-mode:default|size|speed thread-model:posix|single use-cfl-aa:none|steens|anders|both
use-cfl-aa-in-codegen:none|steens|anders|both use-unknown-locations:Default|Enable|Disable
vector-library:none|Accelerate|SVML view-block-freq-propagation-dags:none|fraction|integer|count
view-block-layout-with-bfi:none|fraction|integer|count
view-machine-block-freq-propagation-dags:none|fraction|integer|count
wholeprogramdevirt-summary-action:none|import|export
)"},
    {Kind::kInteger, Scope::kLibrary, R"(
agg-antidep-debugdiv agg-antidep-debugmod asan-debug asan-debug-max asan-debug-min
asan-debug-stack asan-instrumentation-with-call-threshold asan-mapping-scale asan-max-ins-per-bb
base-address-strength-reduce-iv-limit base-address-strength-reduce-max-iv branch-dist-block-limit
branch-dist-func-limit cold-callsite-rel-freq coldcc-rel-freq const-expr-max-use
cost-threshold-remat dfa-sched-reg-pressure-threshold do-base-address-strength-reduce
do-base-address-strength-reduce-chain do-clone-for-ip-msp do-function-scev-cgp do-scev-cgp
dump-base-address-strength-reduce dump-ip-msp dump-phi-remove dump-process-builtin-assume
dump-scev-cgp dwarf-version enable-phi-remove fast-isel-abort fca-size global-isel-abort
gvn-hoist-max-bbs gvn-hoist-max-chain-length gvn-hoist-max-depth gvn-max-hoisted
heavy-const-expr-size hoistphiconsts hot-callsite-rel-freq hot-callsite-threshold
hwasan-match-all-tag ifcvt-fn-start ifcvt-fn-stop ifcvt-limit imp-null-check-page-size
inline-adj-budget1 inline-budget inline-cold-callsite-threshold inline-maxswitchcases
inline-numswitchfunc inline-threshold inline-total-budget inlinecold-threshold
inlinehint-threshold irce-max-exit-prob-reciprocal ldstmemcpy-glue-max
locally-hot-callsite-threshold loop-interchange-threshold max-cg-scc-iterations
max-counter-promotions max-partial-inlining max-sched-reorder min-predictable-branch
msan-instrumentation-with-call-threshold msan-poison-stack-pattern msan-track-origins
no-split-stores-above no-split-stores-below normalize-gep nvptx-prec-divf32 opt-bisect-limit
outline-region-freq-percent pass-control pipeliner-max-mii pipeliner-max-stages
postra-sched-debugdiv postra-sched-debugmod pred-target-adjust preinline-threshold
print-regmask-num-regs process-restrict profile-summary-cutoff-cold profile-summary-cutoff-hot
reg-target-adjust register-usage-level reuse-lmem-very-long-live-range rp-remat
sanitizer-coverage-level scalar-evolution-max-add-items scalar-evolution-max-expr-failures
scalar-evolution-max-expr-size scalar-evolution-max-iterations scev-cgp-control
scev-cgp-inst-limit scev-cgp-norm scev-cgp-old-base scev-cgp-tid-max-value
sched-high-latency-cycles simplify-live-out sink-into-texture sink-level sink-limit
slp-max-reg-size slp-min-reg-size slp-schedule-budget slp-threshold split-compile-bucket-threshold
split-compile-debug split-compile-disable-binpack spp-counted-loop-trip-width ssc-dce-limit
stackmap-version unswitch-threshold usedessa
)"},
    {Kind::kInteger, Scope::kProgram, R"(
maxreg split-compile split-compile-extended sroa-threshold
)"},
    {Kind::kNumber, Scope::kLibrary, R"(
cold-branch-ratio collect-candidate-scale-remat licm-versioning-invariant-threshold
loop-predication-latch-probability-scale min-region-size-ratio vp-counters-per-site
)"},
    {Kind::kText, Scope::kLibrary, R"(
R asan-debug-func asan-memory-access-callback-prefix break-anti-dependencies cfg-func-name
default-gcov-version dfsan-abilist extract-blocks-file force-attribute
hwasan-memory-access-callback-prefix import-critical-multiplier import-hot-evolution-factor
import-hot-multiplier import-instr-evolution-factor info-output-file internalize-public-api-file
internalize-public-api-list load lowertypetests-read-summary lowertypetests-write-summary march
mattr mcpu memop-size-range no-branch-dist no-mi-remat no-remat pass-remarks pass-remarks-analysis
pass-remarks-missed pgo-test-profile-file print-bfi-func-name print-bpi-func-name
print-func-reg-mcse print-func-reg-remat print-machineinstrs profile-generate-file profile-use
rewrite-map-file rng-seed sample-profile-file select-kernel-list select-kernel-range start-after
start-before stop-after stop-before summary-file target-abi trap-func view-bfi-func-name
wholeprogramdevirt-read-summary wholeprogramdevirt-write-summary
)"},
    {Kind::kText, Scope::kProgram, R"(
disable-passno
)"},
    {Kind::kUnsigned, Scope::kLibrary, R"(
alias-set-saturation-threshold align-all-blocks align-all-functions align-all-nofallthru-blocks
asan-force-experiment asan-mapping-offset asan-max-inline-poisoning-size asan-realign-stack
asm-macro-max-nesting-depth available-load-scan-limit bitcode-mdindex-threshold
block-freq-threshold-remat block-placement-exit-block-bias bonus-inst-threshold
callsite-splitting-duplication-threshold canon-nth-basicblock canon-nth-function
cgp-freq-ratio-to-skip-merge cssa-verbosity cvp-max-functions-per-value dag-maps-huge-region
dag-maps-reduction-size dataflow-edge-limit dfa-instr-limit do-remat dom-conditions-max-uses
dump-branch-dist dump-remat dump-remat-add dump-remat-iv dump-remat-load early-ifcvt-limit
flat-loop-tripcount-threshold float2int-max-integer-bw force-target-instruction-cost
force-target-max-scalar-interleave force-target-max-vector-interleave force-target-num-scalar-regs
force-target-num-vector-regs force-vector-interleave force-vector-width
guards-predicate-pass-branch-weight huge-size-for-split hwasan-mapping-offset icp-csskip
icp-cutoff icp-max-annotations icp-max-prom icp-remaining-percent-threshold
icp-total-percent-threshold ignore-call-safety imp-null-max-insts-to-consider
import-cold-multiplier import-cutoff import-instr-limit instcombine-guard-widening-window
instcombine-lower-dbg-declare instcombine-max-num-phis instcombine-maxarray-size
irce-loop-size-cutoff iv-loop-level jump-inst-cost jump-table-density
jump-threading-implication-search-threshold jump-threading-threshold large-aggr-store-limit
lcr-max-depth lcr-max-interf licm-insn-limit licm-max-num-uses-traversed
licm-versioning-max-depth-threshold likely-branch-weight limit-float-precision
loop-depth-threshold-remat loop-distribute-scev-check-threshold
loop-distribute-scev-check-threshold-with-pragma loop-load-elimination-scev-check-threshold
loop-to-cold-block-ratio loop-unswitch-threshold lower-aggr-unrolled-stores-limit lsr-loop-level
lsr-rp-limit lsr-sxtopt machine-combiner-inc-threshold machine-sink-split-probability-threshold
max-aggr-copy-size max-aggr-elems max-aggr-lower-size max-chain-length max-chain-size
max-chain-width max-counter-promotions-per-loop max-dependences max-interleave-group-factor
max-jump-table-size max-mem2reg-size max-nested-scalar-reduction-interleave max-num-inline-blocks
max-pragma-upperbound-unroll max-prefetch-iters-ahead max-recurse-depth max-reg-kind
max-speculation-depth max-switch-cases max-uses-for-sinking mem-space-alg
memcmp-num-loads-per-block memdep-block-number-limit memdep-block-scan-limit memop-max-annotations
memop-size-large memory-check-merge-threshold memssa-check-limit mergefunc-sanity
min-block-execution min-jump-table-entries min-prefetch-stride misched-limit misfetch-cost
msan-and-mask msan-origin-base msan-shadow-base msan-xor-mask non-global-value-max-name-size
nv-remat-block nv-remat-block-liveout-min-percentage nv-remat-block-load-cost
nv-remat-block-loop-cost-factor nv-remat-block-map-size-limit nv-remat-block-max-cost
nv-remat-block-single-cost nv-remat-default-max-reg nv-remat-max-times
nv-remat-threshold-for-spec-reg nvptx-fma-level nvvm-intr-range-sm optsize-jump-table-density
partial-inlining-extra-penalty partial-unrolling-threshold pgo-memop-count-threshold
pgo-memop-max-version pgo-memop-percent-threshold phi-node-folding-threshold
pragma-unroll-and-jam-threshold pragma-unroll-threshold pragma-vectorize-memory-check-threshold
pragma-vectorize-scev-check-threshold prefetch-distance profile-likely-prob
profile-summary-huge-working-set-size-threshold recurrence-chain-limit
regalloc-csr-first-time-cost remat-add remat-for-occ remat-gep-cost remat-iv remat-lli-factor
remat-load remat-loop-trip remat-max-live-limit remat-maxreg-ceiling remat-single-cost-limit
remat-use-limit reroll-num-tolerated-failed-matches rewrite-phi-limit rotation-max-header-size
runtime-check-per-loop-load-elim runtime-memory-check-threshold runtime-unroll-iter-threshold
runtime-unroll-threshold sample-profile-check-record-coverage sample-profile-check-sample-coverage
sample-profile-max-propagate-iterations scalar-evolution-max-add-rec-size
scalar-evolution-max-arith-depth scalar-evolution-max-cast-depth
scalar-evolution-max-constant-evolving-depth scalar-evolution-max-ext-depth
scalar-evolution-max-scev-compare-depth scalar-evolution-max-scev-operations-implication-depth
scalar-evolution-max-value-compare-depth scev-addops-inline-threshold scev-cgp-cross-block-limit
scev-cgp-idom-level-limit scev-mulops-inline-threshold sched-avg-ipc sink-freq-percent-threshold
slp-min-tree-size slp-recursion-max-depth small-loop-cost spec-exec-max-not-hoisted
spec-exec-max-speculation-cost speculative-counter-promotion-max-exiting
spp-rematerialization-threshold sroa-size-limit stack-alignment static-func-strip-dirname-prefix
static-likely-prob stress-regalloc switch-peel-threshold tail-dup-indirect-size tail-dup-limit
tail-dup-placement-aggressive-threshold tail-dup-placement-penalty tail-dup-placement-threshold
tail-dup-size tail-merge-size tail-merge-threshold triangle-chain-count unlikely-branch-weight
unroll-and-jam-count unroll-and-jam-threshold unroll-assumed-size unroll-count
unroll-force-peel-count unroll-full-max-count unroll-max-count
unroll-max-iteration-count-to-analyze unroll-max-percent-threshold-boost unroll-max-upperbound
unroll-partial-threshold unroll-peel-count unroll-peel-max-count unroll-threshold
variance-analysis-limit vectorize-num-stores-pred vectorize-scev-check-threshold
vectorizer-min-trip-count view-hot-freq-percent warn-stack-size
wholeprogramdevirt-branch-funnel-threshold
)"},
    {Kind::kUnsigned, Scope::kProgram, R"(
value-tracking-max-depth
)"},
};

constexpr std::string_view kMeasured = R"(
O1 O2 align-all-blocks dag-disable-combine disable-InstructionCombiningPass disable-LoopRotatePass
disable-LoopUnrollPass disable-break-critical-edges disable-lsr disable-passno disable-post-opt
do-lsr-64-bit do-sign-ext-expand earlycse enable-misched global-isel iv-skip-sxt
join-liveintervals lsr-loop-level lsr-sxtopt max-aggr-copy-size maxreg nv-disable-remat
nv-remat-default-max-reg nvptx-emit-src nvptx-f32ftz nvptx-sched4reg opt-bisect-limit
opt-unsafe-algebra optimize-regalloc param-always-point-to-global pass-control remat-load
reorder-sext-before-cnst-add rotation-max-header-size runtime-unroll-threshold
scalar-evolution-max-add-items scalar-evolution-max-arith-depth scalar-evolution-max-expr-size
scalar-evolution-max-ext-depth scalar-evolution-max-scev-compare-depth
scalar-evolution-max-value-compare-depth scev-addops-inline-threshold scev-mulops-inline-threshold
split-gep-chain static-likely-prob std-compile-opts unroll-allow-remainder unroll-count
unroll-force-peel-count unroll-max-count unroll-partial-threshold unroll-peel-count
unroll-remainder unroll-runtime unroll-runtime-epilog usedessa value-tracking-max-depth
)";

// These show help, load or write files, or were seen to end the process.
constexpr std::string_view kUnsafe = R"(
check-red-pass debug-counter extract-blocks-file h help help-hidden help-list help-list-hidden
info-output-file internalize-public-api-file load mattr pgo-test-profile-file print-all-options
print-machineinstrs print-options profile-generate-file profile-use rewrite-map-file
sample-profile-file summary-file version
)";
// clang-format on

constexpr KnobTable kTable = {.names = kNames, .measured = kMeasured, .unsafe = kUnsafe};

}  // namespace

const KnobTable& Llvm7Knobs() { return kTable; }

}  // namespace devlink::internal
