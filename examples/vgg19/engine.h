/* engine.h: the memory and the compute device that every layer uses.
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
    struct buffers buffers;  /* working memory of layers */
    struct buffers *waiting; /* activations between two layers, on the host */
    struct workers *workers; /* NULL on a GPU */
    struct cuda *cuda;       /* NULL on the host */
};

#endif
