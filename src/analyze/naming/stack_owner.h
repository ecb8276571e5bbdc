/* stack_owner.h: who asked, from a native stack: which library called the driver
 * for memory, under the name that its users know.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_STACK_OWNER_H
#define ML_ANALYZE_STACK_OWNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace.h"

/* What the frame that asked lies in: "cuBLAS", "PyTorch", or the base name of a
 * library or program that is not known here. The driver, the CUDA runtime, libc,
 * libffi and memledger itself only pass a call on; "CUDA driver" where nobody else is in
 * the stack, "unknown" for stack 0 and where no frame's library is known.
 * @buf    used where the name must be made; nothing longer than `room` is
 * @return in buf, or the trace's */
const char *ml_stack_owner(const struct ml_trace *trace, uint32_t stack, char *buf, size_t room);

/* Whether that is one of the libraries that are known here by name. */
bool ml_stack_owner_is_known(const struct ml_trace *trace, uint32_t stack);

/* The same for a library, whether it asks or passes on. */
const char *ml_library_owner(const struct ml_trace *trace, uint32_t library, char *buf,
                             size_t room);

/* The stack from the frame that asked outwards: `stack` without those of its
 * innermost frames that pass a call on; 0 where all of them do. */
uint32_t ml_stack_asker(const struct ml_trace *trace, uint32_t stack);

#endif
