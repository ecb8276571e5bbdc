/* gemm.h: the product of two matrices, all row-major and without gaps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef VGG19_GEMM_H
#define VGG19_GEMM_H

#include "workers.h"

/* c[rows][cols] = a[rows][depth] * b[depth][cols]. `rows` must be a multiple
 * of 4. Allocates nothing. */
void gemm(struct workers *workers, size_t rows, size_t cols, size_t depth, const float *a,
          const float *b, float *c);

#endif
