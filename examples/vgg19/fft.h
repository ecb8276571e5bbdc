/* fft.h: the discrete Fourier transform of any length, four signals at a time.
 *
 * A cell contains the same point of four signals, so that every operation is a vector operation
 * and no length needs its own code path.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef VGG19_FFT_H
#define VGG19_FFT_H

#include "vec4.h"

enum { FFT_MAX_LENGTH = 514, FFT_MAX_FACTORS = 10 };

struct fft_cell {
    vec4 re, im;
};

/* Allocates nothing and needs no release. */
struct fft_plan {
    int length;
    int factor_count;
    int factors[FFT_MAX_FACTORS];
    float cosine[FFT_MAX_LENGTH]; /* of 2 pi k / length */
    float sine[FFT_MAX_LENGTH];
};

/* Precondition: 1 <= length <= FFT_MAX_LENGTH. */
void fft_plan_init(struct fft_plan *plan, int length);

/* Forward transform of data[length], not scaled. Uses both arrays and returns the one that
 * holds the result. For the inverse (times length) swap re and im of the input and of the
 * output. */
struct fft_cell *fft_forward(const struct fft_plan *plan, struct fft_cell *data,
                             struct fft_cell *spare);

#endif
