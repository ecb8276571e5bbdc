/* torch_entries.h: the functions of PyTorch that have a hook, by their mangled names: those of its
 * c10 library, which has the allocators, and those of libtorch_cpu, which has autograd and makes
 * tensors. The linker scripts are generated from these lists too.
 *
 * PyTorch 1.13 counts bytes in signed words (l), 2.0 and later in unsigned ones (m); a hook does
 * not see the difference. The functions that report blocks come first: they share a cache line with
 * the data that the hooks read (ML_READ_ALWAYS).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TORCH_ENTRIES_H
#define ML_TORCH_ENTRIES_H

/* clang-format off */
#define ML_TORCH_C10_ENTRIES(ENTRY)                                                \
    ENTRY(alloc_cpu, _ZN3c109alloc_cpuEm)                                         \
    ENTRY(free_cpu, _ZN3c108free_cpuEPv)                                          \
    ENTRY(report, _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE)          \
    ENTRY(report_torch_1, _ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE)        \
    ENTRY(profiling, _ZN3c1022memoryProfilingEnabledEv)                           \
    ENTRY(report_oom, _ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE)        \
    ENTRY(report_oom_torch_1, _ZN3c1027reportOutOfMemoryToProfilerElllNS_6DeviceE)

#define ML_TORCH_CPU_ENTRIES(ENTRY)                                               \
    ENTRY(evaluate, _ZN5torch8autograd6Engine17evaluate_functionERSt10shared_ptrINS0_9GraphTaskEEPNS0_4NodeERNS0_11InputBufferERKS2_INS0_10ReadyQueueEE) \
    ENTRY(execute, _ZN5torch8autograd6Engine7executeERKSt6vectorINS0_4EdgeESaIS3_EERKS2_IN2at6TensorESaIS9_EEbbbS7_)

/* Functions that make a tensor of a type: those of libtorch_cpu are used for every device. */
#define ML_TORCH_TENSOR_ENTRIES(ENTRY)                                            \
    ENTRY(empty, _ZN2at6detail13empty_genericEN3c108ArrayRefIlEEPNS1_9AllocatorENS1_14DispatchKeySetENS1_10ScalarTypeESt8optionalINS1_12MemoryFormatEE) \
    ENTRY(empty_torch_1, _ZN2at6detail13empty_genericEN3c108ArrayRefIlEEPNS1_9AllocatorENS1_14DispatchKeySetENS1_10ScalarTypeENS1_8optionalINS1_12MemoryFormatEEE) \
    ENTRY(empty_strided, _ZN2at6detail21empty_strided_genericEN3c108ArrayRefIlEES3_PNS1_9AllocatorENS1_14DispatchKeySetENS1_10ScalarTypeE) \
    ENTRY(empty_strided_symint, _ZN2at6detail28empty_strided_symint_genericEN3c108ArrayRefINS1_6SymIntEEES4_PNS1_9AllocatorENS1_14DispatchKeySetENS1_10ScalarTypeE)

#define ML_TORCH_ENTRIES(ENTRY)                                                   \
    ML_TORCH_C10_ENTRIES(ENTRY)                                                   \
    ML_TORCH_CPU_ENTRIES(ENTRY)                                                   \
    ML_TORCH_TENSOR_ENTRIES(ENTRY)
/* clang-format on */

#ifndef ML_LINKER_SCRIPT
#define ML_TORCH_ENUM(entry, symbol) ML_TORCH_##entry,
enum ml_torch_entry { ML_TORCH_ENTRIES(ML_TORCH_ENUM) ML_TORCH_ENTRY_COUNT };
#endif

#endif
