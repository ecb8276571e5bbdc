/* uniform.h: random numbers that depend on seed, stream and position only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef VGG19_UNIFORM_H
#define VGG19_UNIFORM_H

#include "workers.h"

#include <stdint.h>

/* Numbers spread evenly over [-bound, bound]. The same seed and stream give the
 * same numbers; different streams of one seed are independent. */
struct uniform {
    uint64_t seed;
    uint64_t stream;
    float bound;
};

/* The hash of a position plus the key gives two integers, each multiplied by the scale: a GPU
 * needs these values to compute the same numbers. */
uint64_t uniform_key(const struct uniform *uniform);
float uniform_scale(const struct uniform *uniform);

/* The result does not depend on the number of threads. */
void uniform_fill(struct workers *workers, float *out, size_t count, const struct uniform *uniform);

#endif
