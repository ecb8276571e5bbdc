/* network.h: VGG-19 as a table of layers, and one forward pass through it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef VGG19_NETWORK_H
#define VGG19_NETWORK_H

#include "conv.h"
#include "engine.h"

#include <stdint.h>

enum {
    NETWORK_CLASSES = 1000,
    NETWORK_SHRINK = 32, /* five poolings: the input's side is a multiple of it */
};

struct network_task {
    int batch; /* images: 1 to CONV_MAX_BATCH */
    int size;  /* their side: a multiple of NETWORK_SHRINK, up to CONV_MAX_SIZE */
    uint64_t seed;
};

static inline size_t network_logit_count(const struct network_task *task)
{
    return (size_t)task->batch * NETWORK_CLASSES;
}

/* Generates the input, batch x 3 x size x size, in engine->waiting. Each image depends on the
 * seed and its position only: a larger batch begins with the same images. */
int network_input(struct engine *engine, const struct network_task *task, struct buffer *ret);

/* Runs all layers on the input with weights from the seed and releases it. Each layer generates
 * its weights, runs, and frees everything except its output, so that only one layer is in
 * memory at a time. Returns 0 with NETWORK_CLASSES logits an image in `ret`, on the host, or a
 * negative errno. The caller releases them with engine->waiting. Precondition: the algorithm exists
 * on the engine. */
int network_forward(struct engine *engine, const struct conv_algorithm *algorithm,
                    const struct network_task *task, struct buffer *input, struct buffer *ret);

#endif
