/* engine.h: what every layer needs to run: where memory comes from and who
 * computes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef VGG19_ENGINE_H
#define VGG19_ENGINE_H

#include "buffers.h"
#include "workers.h"

struct backend;
struct cuda;

struct engine {
    const struct backend *backend;
    struct buffers buffers;  /* what layers compute in */
    struct buffers *waiting; /* activations between two layers, on the host */
    struct workers *workers; /* NULL on a GPU */
    struct cuda *cuda;       /* NULL on the host */
};

#endif
