/* fft_planes.h: two-dimensional real transforms of square images with many
 * channels, as passes over whole buffers.
 *
 * Channels are the innermost dimension, so that four of them fill a vector:
 *     image     [side][side][channels]
 *     spectrum  [side][bins][re, im][channels]     bins = side / 2 + 1
 * The bins left out are the complex conjugates of those kept.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef VGG19_FFT_PLANES_H
#define VGG19_FFT_PLANES_H

#include "fft.h"

#include <stddef.h>

struct fft_planes {
    int side; /* even */
    int bins;
    int channels;
    struct fft_plan column; /* of side points */
    struct fft_plan row;    /* a real row of side points, as side / 2 complex ones */
};

void fft_planes_init(struct fft_planes *planes, int side, int channels);

/* Floats in an image and in a spectrum. */
size_t fft_planes_image_count(const struct fft_planes *planes);
size_t fft_planes_spectrum_count(const struct fft_planes *planes);

/* Forward: image, rows to workspace, columns to spectrum. The rows from
 * `rows` on must be zero; they are not transformed, their result is written. */
void fft_planes_rows(const struct fft_planes *planes, const float *image, int rows,
                     float *workspace);
void fft_planes_columns(const struct fft_planes *planes, const float *workspace, float *spectrum);

/* Inverse: spectrum, columns to workspace, rows to image. The image comes out
 * times side * side. */
void fft_planes_columns_inverse(const struct fft_planes *planes, const float *spectrum,
                                float *workspace);
void fft_planes_rows_inverse(const struct fft_planes *planes, const float *workspace, float *image);

#endif
