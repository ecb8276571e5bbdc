/* sampled.c: see sampled.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sampled.h"

#include <math.h>

/* With its header. */
#define SMALLEST_BLOCK_BYTES 32

static double chance_of(double size, uint64_t mean)
{
    return -expm1(-size / (double)mean);
}

static double estimate_of(double size, uint64_t mean)
{
    return size > 0 ? size / chance_of(size, mean) : (double)mean;
}

uint64_t ml_sample_estimate(uint64_t size, uint64_t mean)
{
    return (uint64_t)llround(estimate_of((double)size, mean));
}

/* The estimate rises with the size, by a half at first, by one at last: the size is between these
 * bounds. Newton's method would need as many steps where it is flat. */
uint64_t ml_sample_size(uint64_t estimate, uint64_t mean)
{
    uint64_t low = 0, high = estimate;

    if (estimate <= mean)
        return 0;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (estimate_of((double)middle, mean) > (double)estimate)
            high = middle;
        else
            low = middle;
    }
    return (double)estimate - estimate_of((double)low, mean) <
                   estimate_of((double)high, mean) - (double)estimate
               ? low
               : high;
}

/* The chance of a block to be recorded; a byte is the least that can be. */
static double chance_by_estimate(uint64_t estimate, uint64_t mean)
{
    uint64_t size = ml_sample_size(estimate, mean);

    return chance_of(size ? (double)size : 1, mean);
}

double ml_sample_weight(uint64_t estimate, uint64_t mean)
{
    return 1 / chance_by_estimate(estimate, mean);
}

uint64_t ml_sample_parts(uint64_t estimate, uint64_t mean)
{
    return (uint64_t)llround(ML_SAMPLE_PARTS * ml_sample_weight(estimate, mean));
}

uint64_t ml_sample_count(uint32_t *parts, uint64_t estimate, uint64_t mean)
{
    uint64_t all = mean ? *parts + ml_sample_parts(estimate, mean) : 0;

    if (!mean)
        return 1;
    *parts = (uint32_t)(all % ML_SAMPLE_PARTS);
    return all / ML_SAMPLE_PARTS;
}

void ml_sample_add(uint64_t *count, uint32_t *parts, uint64_t more, uint32_t more_parts)
{
    uint32_t sum = *parts + more_parts;

    *count += more + sum / ML_SAMPLE_PARTS;
    *parts = sum % ML_SAMPLE_PARTS;
}

double ml_sample_variance(uint64_t estimate, uint64_t mean)
{
    return (1 - chance_by_estimate(estimate, mean)) * (double)estimate * (double)estimate;
}

double ml_sample_count_variance(uint64_t estimate, uint64_t mean)
{
    double chance = chance_by_estimate(estimate, mean);

    return (1 - chance) / (chance * chance);
}

/* @one  what a sample of a small block adds to the sum */
static double error_of(double variance, double one)
{
    return sqrt((variance > 0 ? variance : 0) + 4 * one * one);
}

double ml_sample_error(double variance, uint64_t mean)
{
    return error_of(variance, (double)mean);
}

double ml_sample_count_error(double variance, double largest_weight, uint64_t mean)
{
    return error_of(variance, fmax(largest_weight, (double)mean / SMALLEST_BLOCK_BYTES));
}
