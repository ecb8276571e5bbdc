/* logits.c: reading, writing and comparing the network's output.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "logits.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

size_t logits_argmax(const float *logits, size_t count)
{
    size_t best = 0;

    for (size_t i = 1; i < count; i++)
        if (logits[i] > logits[best])
            best = i;
    return best;
}

double logits_sum(const float *logits, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += (double)logits[i];
    return sum;
}

int logits_write(const char *path, const float *logits, size_t count)
{
    FILE *file = fopen(path, "w");
    int failed;

    if (!file) {
        fprintf(stderr, "vgg19: cannot write %s: %s\n", path, strerror(errno));
        return -1;
    }
    for (size_t i = 0; i < count; i++)
        fprintf(file, "%.9g\n", (double)logits[i]);
    failed = ferror(file);
    if (fclose(file) || failed) {
        fprintf(stderr, "vgg19: %s is incomplete: %s\n", path, strerror(errno));
        return -1;
    }
    return 0;
}

int logits_read(const char *path, float *ret, size_t count)
{
    FILE *file = fopen(path, "r");
    size_t got = 0;

    if (!file) {
        fprintf(stderr, "vgg19: cannot read %s: %s; make it with --output\n", path,
                strerror(errno));
        return -1;
    }
    while (got < count && fscanf(file, "%f", &ret[got]) == 1)
        got++;
    fclose(file);
    if (got < count) {
        fprintf(
            stderr,
            "vgg19: %s holds %zu numbers, not %zu; make it with --output and the same --batch\n",
            path, got, count);
        return -1;
    }
    return 0;
}

struct logits_difference logits_compare(const float *a, const float *b, size_t count)
{
    struct logits_difference difference = {0, 0};
    double largest = 0;

    for (size_t i = 0; i < count; i++) {
        double apart = fabs((double)a[i] - (double)b[i]);

        if (isnan(apart))
            return (struct logits_difference){INFINITY, INFINITY};
        difference.absolute = fmax(difference.absolute, apart);
        largest = fmax(largest, fabs((double)b[i]));
    }
    if (difference.absolute > 0)
        difference.relative = difference.absolute / largest;
    return difference;
}
