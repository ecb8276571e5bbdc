/* fft.c: Stockham's autosort transform in mixed radix. The side of an image
 * padded for a 3x3 kernel is 2^k + 2: one factor is 2, the others are odd, with
 * primes up to 43 at 256 pixels. Those are summed directly, each output
 * together with its mirror image, which halves the work.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fft.h"

#include <assert.h>
#include <math.h>

enum { MAX_PAIRS = FFT_MAX_LENGTH / 2 };

/* One pass: `done` transforms of `length` points each remain; this one splits each into `radix`
 * of `length` / `radix` points. */
struct fft_pass {
    const struct fft_plan *plan;
    int radix;
    int length;
    int done;
};

void fft_plan_init(struct fft_plan *plan, int length)
{
    int rest = length;

    assert(length >= 1 && length <= FFT_MAX_LENGTH);
    plan->length = length;
    plan->factor_count = 0;
    for (int factor = 2; rest > 1; factor++)
        for (; rest % factor == 0; rest /= factor)
            plan->factors[plan->factor_count++] = factor;
    for (int k = 0; k < length; k++) {
        double angle = 2 * M_PI * k / length;

        plan->cosine[k] = (float)cos(angle);
        plan->sine[k] = (float)sin(angle);
    }
}

/* a * exp(-2 pi i k / length) */
static inline struct fft_cell rotate(const struct fft_plan *plan, struct fft_cell a, int k)
{
    float c = plan->cosine[k];
    float s = plan->sine[k];

    return (struct fft_cell){a.re * c + a.im * s, a.im * c - a.re * s};
}

/* In pass-local terms: point j of the transform at `from` lies `spread` cells
 * after point j - 1; output k goes `done` cells after output k - 1. */
static void butterfly_two(const struct fft_pass *pass, int p, const struct fft_cell *from,
                          struct fft_cell *to)
{
    int spread = pass->length / 2 * pass->done;

    for (int q = 0; q < pass->done; q++) {
        struct fft_cell a = from[q], b = from[q + spread];
        struct fft_cell difference = {a.re - b.re, a.im - b.im};

        to[q] = (struct fft_cell){a.re + b.re, a.im + b.im};
        to[q + pass->done] = rotate(pass->plan, difference, p * pass->done);
    }
}

/* Sums and differences of the inputs that are mirror images of each other. */
struct mirror_pairs {
    struct fft_cell first;
    struct fft_cell sum[MAX_PAIRS];
    struct fft_cell difference[MAX_PAIRS];
};

static struct fft_cell pair_up(const struct fft_cell *from, int spread, int radix,
                               struct mirror_pairs *pairs)
{
    struct fft_cell total = from[0];

    pairs->first = from[0];
    for (int j = 1; j <= radix / 2; j++) {
        struct fft_cell a = from[j * spread], b = from[(radix - j) * spread];
        struct fft_cell sum = {a.re + b.re, a.im + b.im};

        pairs->sum[j - 1] = sum;
        pairs->difference[j - 1] = (struct fft_cell){a.re - b.re, a.im - b.im};
        total.re += sum.re;
        total.im += sum.im;
    }
    return total;
}

/* With even = sum of cos terms and odd = sum of sin terms, output k of an odd
 * radix is even - i odd, output radix - k is even + i odd. */
static void mirrored_outputs(const struct fft_pass *pass, const struct mirror_pairs *pairs, int k,
                             struct fft_cell ret[2])
{
    const struct fft_plan *plan = pass->plan;
    int step = k * (plan->length / pass->radix);
    struct fft_cell even = pairs->first, odd = {{0}, {0}};
    int angle = 0;

    for (int j = 0; j < pass->radix / 2; j++) {
        angle += step;
        if (angle >= plan->length)
            angle -= plan->length;
        even.re += pairs->sum[j].re * plan->cosine[angle];
        even.im += pairs->sum[j].im * plan->cosine[angle];
        odd.re += pairs->difference[j].re * plan->sine[angle];
        odd.im += pairs->difference[j].im * plan->sine[angle];
    }
    ret[0] = (struct fft_cell){even.re + odd.im, even.im - odd.re};
    ret[1] = (struct fft_cell){even.re - odd.im, even.im + odd.re};
}

static void butterfly_odd(const struct fft_pass *pass, int p, const struct fft_cell *from,
                          struct fft_cell *to)
{
    int radix = pass->radix;
    int spread = pass->length / radix * pass->done;
    struct mirror_pairs pairs;

    for (int q = 0; q < pass->done; q++) {
        to[q] = pair_up(from + q, spread, radix, &pairs);
        for (int k = 1; k <= radix / 2; k++) {
            struct fft_cell out[2];

            mirrored_outputs(pass, &pairs, k, out);
            to[q + k * pass->done] = rotate(pass->plan, out[0], p * k * pass->done);
            to[q + (radix - k) * pass->done] =
                rotate(pass->plan, out[1], p * (radix - k) * pass->done);
        }
    }
}

static void run_pass(const struct fft_pass *pass, const struct fft_cell *from, struct fft_cell *to)
{
    for (int p = 0; p < pass->length / pass->radix; p++) {
        const struct fft_cell *in = from + p * pass->done;
        struct fft_cell *out = to + p * pass->radix * pass->done;

        if (pass->radix == 2)
            butterfly_two(pass, p, in, out);
        else
            butterfly_odd(pass, p, in, out);
    }
}

struct fft_cell *fft_forward(const struct fft_plan *plan, struct fft_cell *data,
                             struct fft_cell *spare)
{
    struct fft_pass pass = {.plan = plan, .length = plan->length, .done = 1};

    for (int i = 0; i < plan->factor_count; i++) {
        struct fft_cell *from = data;

        pass.radix = plan->factors[i];
        run_pass(&pass, from, spare);
        pass.length /= pass.radix;
        pass.done *= pass.radix;
        data = spare;
        spare = from;
    }
    return data;
}
