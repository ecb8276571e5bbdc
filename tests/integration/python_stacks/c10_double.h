/* c10_double.h: c10::reportMemoryUsageToProfiler, as C sees it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef C10_DOUBLE_H
#define C10_DOUBLE_H

#include <stdint.h>

__attribute__((visibility("default"))) void
report(void *p, int64_t bytes, uint64_t allocated, uint64_t reserved,
       uint16_t device) __asm__("_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE");

#endif
