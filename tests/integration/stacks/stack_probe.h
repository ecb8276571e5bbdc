/* stack_probe.h: the recorder in a separate library, with a function that records an allocation
 * and its stack, as a hook does.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STACK_PROBE_H
#define STACK_PROBE_H

#include <stdint.h>

/* Records an allocation of that many bytes at that address, asked for by the
 * caller. Returns the number of its stack. */
uint32_t probe_alloc(uint64_t address, uint64_t bytes);

/* Records a sample that claims to belong to a given process. */
void probe_sample(uint64_t used_bytes);

#endif
