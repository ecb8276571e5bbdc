/* emulated_kernels.h: the kernels of examples/vgg19, compiled for the host.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef EMULATED_KERNELS_H
#define EMULATED_KERNELS_H

#include <stddef.h>

struct emulated_kernel {
    const char *name;
    /* Runs threads 0 to `threads` - 1 with a copy of the kernel's struct. */
    void (*run)(const void *args, size_t threads);
};

struct emulated_table {
    const char *name;
    float *values;
    size_t bytes;
};

/* NULL where the kernels have none of that name. */
const struct emulated_kernel *emulated_kernel_find(const char *name);
const struct emulated_table *emulated_table_find(const char *name);

#endif
