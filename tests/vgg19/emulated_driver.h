/* emulated_driver.h: a test double of the CUDA driver that runs the kernels of
 * examples/vgg19 on the host, one thread after the other. The kernels' text is
 * compiled as C, so that their numbers, and all the code that launches them,
 * can be tested where there is no GPU.
 *
 * New memory is full of NaNs, and each block ends in a guard.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef EMULATED_DRIVER_H
#define EMULATED_DRIVER_H

#include "cuda_driver.h"

#include <stddef.h>

struct emulated {
    size_t live_blocks;
    size_t live_bytes;
    size_t peak_bytes;
    size_t damaged; /* blocks whose guard was overwritten */
    size_t allocations;
    size_t launches;
    size_t fail_allocation; /* the number of the one to fail, from 1; 0: none */
    size_t fail_launch;
};

/* There is one device, so its state is global. */
extern struct emulated emulated;

/* Forgets what was counted. Precondition: no block lives. */
void emulated_reset(void);

void emulated_driver_load(struct cuda_driver *ret);

#endif
