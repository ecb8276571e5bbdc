/* chrome_memory.h: the memory events that PyTorch's profiler puts into its traces.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CHROME_MEMORY_H
#define ML_CHROME_MEMORY_H

#include "chrome_entities.h"

/* Handles an instant event "[memory]" or "[OutOfMemory]".
 * @return 1; 0: it is another event; -ERANGE: the block is larger than any memory */
int ml_chrome_memory(struct ml_chrome_entities *w, const struct ml_chrome_event *e,
                     uint64_t time_ns);

#endif
