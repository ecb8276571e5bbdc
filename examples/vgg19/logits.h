/* logits.h: find the maximum of the result, store it, compare it.
 *
 * The file is text, one number per line with all its digits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef VGG19_LOGITS_H
#define VGG19_LOGITS_H

#include <stddef.h>

/* Two results of the host agree when both differences are at most this; those
 * of two devices, which round differently, when the relative one is. */
#define LOGITS_TOLERANCE 1e-3

struct logits_difference {
    double absolute; /* largest |a - b| */
    double relative; /* the same over the largest |b| */
};

size_t logits_argmax(const float *logits, size_t count);
double logits_sum(const float *logits, size_t count);

/* Both return 0, or -1 after a message on stderr. A file may hold more numbers than are read: the
 * result of a larger batch begins with that of a smaller one. */
int logits_write(const char *path, const float *logits, size_t count);
int logits_read(const char *path, float *ret, size_t count);

/* A NaN gives infinity, so that results with one never agree. */
struct logits_difference logits_compare(const float *a, const float *b, size_t count);

#endif
