/* stack_owner.h: who asked, from a native stack: which library called the driver
 * for memory, under the name that its users know.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_STACK_OWNER_H
#define ML_ANALYZE_STACK_OWNER_H

#include <stddef.h>
#include <stdint.h>

#include "trace.h"

/* "cuBLAS", "PyTorch", or "unknown".
 * @buf    used where the name must be made; nothing longer than `room` is
 * @return in buf, or the trace's */
const char *ml_stack_owner(const struct ml_trace *trace, uint32_t stack, char *buf, size_t room);

#endif
