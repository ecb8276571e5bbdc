/* stack_owner.h: the library that requested memory from the driver, found in a native stack,
 * under the name that its users know.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_STACK_OWNER_H
#define ML_ANALYZE_STACK_OWNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace.h"

/* The owner of the frame that made the request: "cuBLAS", "PyTorch", or the base name of an
 * unknown library or program. The driver, the CUDA runtime, libc, libffi and memledger itself
 * only pass a call on, and so do operator new and the allocators of C++ and Rust. "CUDA driver" if
 * the stack contains nothing else, "unknown" for stack 0 and if no frame's library is known.
 * @buf    used if the name must be built; a name longer than `room` is cut
 * @return a string in buf or in the trace */
const char *ml_stack_owner(const struct ml_trace *trace, uint32_t stack, char *buf, size_t room);

/* Whether that is one of the libraries that this file knows by name. */
bool ml_stack_owner_is_known(const struct ml_trace *trace, uint32_t stack);

/* The same for a library, whether it makes requests or passes them on. */
const char *ml_library_owner(const struct ml_trace *trace, uint32_t library, char *buf,
                             size_t room);

/* The stack from the frame that made the request outwards: `stack` without its innermost frames
 * that only pass a call on; 0 if all of them do. */
uint32_t ml_stack_asker(const struct ml_trace *trace, uint32_t stack);

#endif
