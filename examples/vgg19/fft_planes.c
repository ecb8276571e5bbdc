/* fft_planes.c: gathers a row or a column of four channels into cells,
 * transforms it, scatters the result.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fft_planes.h"

#include <string.h>

/* Two arrays for fft_forward to go back and forth between. */
struct cells {
    struct fft_cell data[FFT_MAX_LENGTH];
    struct fft_cell spare[FFT_MAX_LENGTH];
};

void fft_planes_init(struct fft_planes *planes, int side, int channels)
{
    planes->side = side;
    planes->bins = side / 2 + 1;
    planes->channels = channels;
    fft_plan_init(&planes->column, side);
    fft_plan_init(&planes->row, side / 2);
}

size_t fft_planes_image_count(const struct fft_planes *planes)
{
    return (size_t)planes->side * (size_t)planes->side * (size_t)planes->channels;
}

static size_t spectrum_row_count(const struct fft_planes *planes)
{
    return 2 * (size_t)planes->bins * (size_t)planes->channels;
}

size_t fft_planes_spectrum_count(const struct fft_planes *planes)
{
    return (size_t)planes->side * spectrum_row_count(planes);
}

static int lanes_from(const struct fft_planes *planes, int channel)
{
    int left = planes->channels - channel;

    return left < VEC4 ? left : VEC4;
}

/* Transform of a real row packed as z[k] = x[2k] + i x[2k + 1]: the spectra of
 * the even and of the odd points are separated by symmetry, then combined. */
static void split_row(const struct fft_planes *planes, const struct fft_cell *z, int channel,
                      float *spectrum_row)
{
    int half = planes->side / 2;
    int lanes = lanes_from(planes, channel);
    float *to = spectrum_row + channel;

    for (int k = 0; k <= half; k++, to += 2 * planes->channels) {
        struct fft_cell a = z[k < half ? k : 0], b = z[k ? half - k : 0];
        float c = planes->column.cosine[k], s = planes->column.sine[k];
        struct fft_cell even = {(a.re + b.re) * 0.5f, (a.im - b.im) * 0.5f};
        struct fft_cell odd = {(a.im + b.im) * 0.5f, (b.re - a.re) * 0.5f};

        vec4_store_part(to, even.re + odd.re * c + odd.im * s, lanes);
        vec4_store_part(to + planes->channels, even.im + odd.im * c - odd.re * s, lanes);
    }
}

static void transform_row(const struct fft_planes *planes, const float *row, int channel,
                          float *spectrum_row)
{
    int lanes = lanes_from(planes, channel);
    const float *from = row + channel;
    struct cells cells;

    for (int k = 0; k < planes->side / 2; k++, from += 2 * planes->channels) {
        cells.data[k].re = vec4_load_part(from, lanes);
        cells.data[k].im = vec4_load_part(from + planes->channels, lanes);
    }
    split_row(planes, fft_forward(&planes->row, cells.data, cells.spare), channel, spectrum_row);
}

void fft_planes_rows(const struct fft_planes *planes, const float *image, int rows,
                     float *workspace)
{
    size_t image_row = (size_t)planes->side * (size_t)planes->channels;
    size_t spectrum_row = spectrum_row_count(planes);

    for (int y = 0; y < rows; y++)
        for (int channel = 0; channel < planes->channels; channel += VEC4)
            transform_row(planes, image + (size_t)y * image_row, channel,
                          workspace + (size_t)y * spectrum_row);
    memset(workspace + (size_t)rows * spectrum_row, 0,
           (size_t)(planes->side - rows) * spectrum_row * sizeof(float));
}

/* `re` and `im`: offsets of the two parts within a bin. */
static void transform_column(const struct fft_planes *planes, const float *from, float *to, int re,
                             int im, int lanes)
{
    size_t stride = spectrum_row_count(planes);
    const struct fft_cell *result;
    struct cells cells;

    for (int y = 0; y < planes->side; y++, from += stride) {
        cells.data[y].re = vec4_load_part(from + re, lanes);
        cells.data[y].im = vec4_load_part(from + im, lanes);
    }
    result = fft_forward(&planes->column, cells.data, cells.spare);
    for (int y = 0; y < planes->side; y++, to += stride) {
        vec4_store_part(to + re, result[y].re, lanes);
        vec4_store_part(to + im, result[y].im, lanes);
    }
}

static void transform_columns(const struct fft_planes *planes, const float *from, float *to, int re,
                              int im)
{
    for (int x = 0; x < planes->bins; x++) {
        size_t bin = 2 * (size_t)x * (size_t)planes->channels;

        for (int channel = 0; channel < planes->channels; channel += VEC4)
            transform_column(planes, from + bin + channel, to + bin + channel, re, im,
                             lanes_from(planes, channel));
    }
}

void fft_planes_columns(const struct fft_planes *planes, const float *workspace, float *spectrum)
{
    transform_columns(planes, workspace, spectrum, 0, planes->channels);
}

void fft_planes_columns_inverse(const struct fft_planes *planes, const float *spectrum,
                                float *workspace)
{
    transform_columns(planes, spectrum, workspace, planes->channels, 0);
}

/* split_row backwards; re and im come out swapped, as the inverse wants them. */
static void join_row(const struct fft_planes *planes, const float *spectrum_row, int channel,
                     struct fft_cell *z)
{
    int half = planes->side / 2;
    int lanes = lanes_from(planes, channel);
    ptrdiff_t bin = 2 * planes->channels;

    for (int k = 0; k < half; k++) {
        const float *a = spectrum_row + channel + k * bin;
        const float *b = spectrum_row + channel + (half - k) * bin;
        vec4 a_re = vec4_load_part(a, lanes), a_im = vec4_load_part(a + planes->channels, lanes);
        vec4 b_re = vec4_load_part(b, lanes), b_im = vec4_load_part(b + planes->channels, lanes);
        float c = planes->column.cosine[k], s = planes->column.sine[k];
        struct fft_cell odd = {
            (a_re - b_re) * c - (a_im + b_im) * s,
            (a_re - b_re) * s + (a_im + b_im) * c,
        };

        z[k].im = a_re + b_re - odd.im;
        z[k].re = a_im - b_im + odd.re;
    }
}

static void transform_row_inverse(const struct fft_planes *planes, const float *spectrum_row,
                                  int channel, float *row)
{
    int lanes = lanes_from(planes, channel);
    const struct fft_cell *z;
    float *to = row + channel;
    struct cells cells;

    join_row(planes, spectrum_row, channel, cells.data);
    z = fft_forward(&planes->row, cells.data, cells.spare);
    for (int k = 0; k < planes->side / 2; k++, to += 2 * planes->channels) {
        vec4_store_part(to, z[k].im, lanes);
        vec4_store_part(to + planes->channels, z[k].re, lanes);
    }
}

void fft_planes_rows_inverse(const struct fft_planes *planes, const float *workspace, float *image)
{
    size_t image_row = (size_t)planes->side * (size_t)planes->channels;

    for (int y = 0; y < planes->side; y++)
        for (int channel = 0; channel < planes->channels; channel += VEC4)
            transform_row_inverse(planes, workspace + (size_t)y * spectrum_row_count(planes),
                                  channel, image + (size_t)y * image_row);
}
