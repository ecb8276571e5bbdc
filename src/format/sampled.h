/* sampled.h: what the sampled blocks of a space say about all its blocks.
 *
 * Points are spread over the allocated bytes at random, `mean` bytes apart on average, and blocks
 * that contain one are recorded. A block of `size` bytes is, with probability
 *
 *     p = 1 - exp(-size / mean)
 *
 * and stands for size / p bytes, its estimate: the sum of estimates is right on average (the
 * estimator of Horvitz and Thompson), whatever the sizes are. Its variance is, on average, the sum
 * of (1 - p) times the square of each estimate. Traces contain the estimate; from it and the mean
 * the size follows.
 *
 * That variance knows only the recorded blocks. Without any it is 0, although three means of bytes
 * are missed once in 20 runs. Agresti and Coull's remedy for counts is to add four observations:
 * ml_sample_error adds the variance of four samples, and a sum of bytes is within twice its error
 * in 95 of 100 runs or more, however few samples there are.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SAMPLED_H
#define ML_SAMPLED_H

#include <stdint.h>

/* The default of `memledger run --heap=sample`. */
#define ML_SAMPLE_BYTES_DEFAULT (UINT64_C(512) << 10)
#define ML_SAMPLE_BYTES_MAX (UINT64_C(1) << 40)

/* Precondition of all, unless they say otherwise: mean > 0. */

/* The bytes that a block of this size stands for. */
uint64_t ml_sample_estimate(uint64_t size, uint64_t mean);

/* The size of a block that stands for so many bytes, to within a byte. */
uint64_t ml_sample_size(uint64_t estimate, uint64_t mean);

/* The number of blocks that it stands for. */
double ml_sample_weight(uint64_t estimate, uint64_t mean);

/* The same in parts of a block, which add up without an error. */
#define ML_SAMPLE_PARTS 1024u
uint64_t ml_sample_parts(uint64_t estimate, uint64_t mean);

/* The number of blocks to add for a block, 1 if the mean is 0, which needs no parts. *parts, at
 * first 0, has those that the sum lacks. */
uint64_t ml_sample_count(uint32_t *parts, uint64_t estimate, uint64_t mean);

/* Adds a number of blocks and the parts that it lacks to a sum of such: the sum of groups is then
 * that of all their samples. */
void ml_sample_add(uint64_t *count, uint32_t *parts, uint64_t more, uint32_t more_parts);

/* Its contribution to the variance of a sum of bytes, and of a number of blocks. */
double ml_sample_variance(uint64_t estimate, uint64_t mean);
double ml_sample_count_variance(uint64_t estimate, uint64_t mean);

/* The standard error of a sum of bytes, and of a number of blocks, given the sum of the variances
 * of its samples.
 * @largest_weight  among all samples. Blocks without a sample are taken to be no smaller than the
 *                  smallest sampled one, or than malloc's smallest */
double ml_sample_error(double variance, uint64_t mean);
double ml_sample_count_error(double variance, double largest_weight, uint64_t mean);

#endif
