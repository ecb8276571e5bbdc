/* uniform.h: random numbers that depend on seed, stream and position only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef VGG19_UNIFORM_H
#define VGG19_UNIFORM_H

#include "workers.h"

#include <stdint.h>

/* Fills `out` with numbers spread evenly over [-bound, bound]. The same seed
 * and stream give the same numbers, whatever the number of threads; different
 * streams of one seed are independent. */
void uniform_fill(struct workers *workers, float *out, size_t count, uint64_t seed, uint64_t stream,
                  float bound);

#endif
