/* torch_entries.h: the functions of PyTorch's c10 library that have a hook, by
 * the names that the C++ compiler gave them. The linker scripts are made from this
 * list too.
 *
 * PyTorch 1.13 counts bytes in signed words (l), 2.0 and later in unsigned ones
 * (m); a hook does not see the difference.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TORCH_ENTRIES_H
#define ML_TORCH_ENTRIES_H

/* clang-format off */
#define ML_TORCH_ENTRIES(ENTRY)                                                   \
    ENTRY(alloc_cpu, _ZN3c109alloc_cpuEm)                                         \
    ENTRY(free_cpu, _ZN3c108free_cpuEPv)                                          \
    ENTRY(profiling, _ZN3c1022memoryProfilingEnabledEv)                           \
    ENTRY(report, _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE)          \
    ENTRY(report_1, _ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE)        \
    ENTRY(report_oom, _ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE)        \
    ENTRY(report_oom_1, _ZN3c1027reportOutOfMemoryToProfilerElllNS_6DeviceE)
/* clang-format on */

#ifndef ML_LINKER_SCRIPT
#define ML_TORCH_ENUM(entry, symbol) ML_TORCH_##entry,
enum ml_torch_entry { ML_TORCH_ENTRIES(ML_TORCH_ENUM) ML_TORCH_ENTRY_COUNT };
#endif

#endif
