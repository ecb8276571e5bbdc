/* conv_fft.c: the convolution as a product of spectra, with every filter padded to the size of
 * the image. This makes it the largest of the four, and is the point of the example.
 *
 * The program it is modelled on transforms volumes of (in, size + 2, size + 2)
 * in three dimensions and keeps one plane of each result, which is the sum
 * over the channels. Here each channel is transformed in two dimensions and
 * the results are added up: the same sum with less arithmetic. The buffers keep
 * the sizes of the three-dimensional version, with n = size + 2:
 *
 *     padded     (out + 1) * in * n * n            filters, then the image
 *     workspace  (out + 1) * in * n * (n/2 + 1)    complex, between the passes
 *     spectra    (out + 1) * in * n * (n/2 + 1)    complex
 *     product     out      * in * n * (n/2 + 1)    complex
 *     inverse     out      * in * n * n            summed over `in` at the end
 *
 * The images of a batch take turns in these buffers. The filters, transformed together with the
 * image, are transformed again for each.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conv.h"
#include "fft_planes.h"

#include <assert.h>

static_assert(CONV_MAX_SIZE + 2 * PADDING <= FFT_MAX_LENGTH, "transforms cover the largest image");

enum { PADDED, WORKSPACE, SPECTRA, PRODUCT, INVERSE, BUFFER_COUNT };

struct fft_job {
    const struct conv_shape *shape;
    const struct fft_planes *planes;
    const float *input;
    const float *weight;
    float *output;
    float *buffer[BUFFER_COUNT];
};

/* The image is in the slot after the last filter. */
static int is_image(const struct fft_job *job, size_t slot)
{
    return slot == (size_t)job->shape->out;
}

static float *image_at(const struct fft_job *job, int buffer, size_t slot)
{
    return job->buffer[buffer] + slot * fft_planes_image_count(job->planes);
}

static float *spectrum_at(const struct fft_job *job, int buffer, size_t slot)
{
    return job->buffer[buffer] + slot * fft_planes_spectrum_count(job->planes);
}

/* Copies [in][side][side] into the padded slot, channels innermost, `offset`
 * pixels from its top and left edge. */
static void place(const struct fft_job *job, const float *from, int side, int offset, float *to)
{
    int channels = job->shape->in;
    int padded_side = job->planes->side;

    for (int c = 0; c < channels; c++)
        for (int y = 0; y < side; y++)
            for (int x = 0; x < side; x++)
                to[((y + offset) * padded_side + x + offset) * channels + c] = *from++;
}

static void pad_slot(const void *arg, size_t slot)
{
    const struct fft_job *job = arg;
    size_t filter = (size_t)job->shape->in * TAPS;
    float *to = image_at(job, PADDED, slot);

    memset(to, 0, fft_planes_image_count(job->planes) * sizeof(float));
    if (is_image(job, slot))
        place(job, job->input, job->shape->size, PADDING, to);
    else
        place(job, job->weight + slot * filter, KERNEL, 0, to);
}

static void transform_rows(const void *arg, size_t slot)
{
    const struct fft_job *job = arg;

    fft_planes_rows(job->planes, image_at(job, PADDED, slot),
                    is_image(job, slot) ? job->planes->side : KERNEL,
                    spectrum_at(job, WORKSPACE, slot));
}

static void transform_columns(const void *arg, size_t slot)
{
    const struct fft_job *job = arg;

    fft_planes_columns(job->planes, spectrum_at(job, WORKSPACE, slot),
                       spectrum_at(job, SPECTRA, slot));
}

/* image * conj(filter): a layer's "convolution" does not flip the kernel, so it
 * is a correlation. */
static void multiply_bin(const float *restrict image, const float *restrict filter,
                         float *restrict product, int channels)
{
    for (int c = 0; c < channels; c++) {
        float re = image[c], im = image[channels + c];
        float filter_re = filter[c], filter_im = filter[channels + c];

        product[c] = re * filter_re + im * filter_im;
        product[channels + c] = im * filter_re - re * filter_im;
    }
}

static void multiply_filter(const void *arg, size_t slot)
{
    const struct fft_job *job = arg;
    size_t bin = 2 * (size_t)job->shape->in;
    const float *image = spectrum_at(job, SPECTRA, (size_t)job->shape->out);
    const float *filter = spectrum_at(job, SPECTRA, slot);
    float *product = spectrum_at(job, PRODUCT, slot);

    for (size_t i = 0; i < fft_planes_spectrum_count(job->planes); i += bin)
        multiply_bin(image + i, filter + i, product + i, job->shape->in);
}

static void transform_columns_back(const void *arg, size_t slot)
{
    const struct fft_job *job = arg;

    fft_planes_columns_inverse(job->planes, spectrum_at(job, PRODUCT, slot),
                               spectrum_at(job, WORKSPACE, slot));
}

static void transform_rows_back(const void *arg, size_t slot)
{
    const struct fft_job *job = arg;

    fft_planes_rows_inverse(job->planes, spectrum_at(job, WORKSPACE, slot),
                            image_at(job, INVERSE, slot));
}

static float sum_of(const float *values, int count)
{
    vec4 sum = {0};

    for (int i = 0; i < count; i += VEC4)
        sum += vec4_load_part(values + i, count - i < VEC4 ? count - i : VEC4);
    return vec4_sum(sum);
}

static void sum_over_channels(const void *arg, size_t slot)
{
    const struct fft_job *job = arg;
    int size = job->shape->size, side = job->planes->side, channels = job->shape->in;
    const float *from = image_at(job, INVERSE, slot);
    float *to = job->output + slot * conv_plane(job->shape);
    float scale = 1.0f / (float)(side * side);

    for (int y = 0; y < size; y++)
        for (int x = 0; x < size; x++)
            *to++ = scale * sum_of(from + (y * side + x) * channels, channels);
}

/* Of one image. */
static void run_passes(struct workers *workers, const struct fft_job *job)
{
    size_t filters = (size_t)job->shape->out;

    workers_run(workers, filters + 1, pad_slot, job);
    workers_run(workers, filters + 1, transform_rows, job);
    workers_run(workers, filters + 1, transform_columns, job);
    workers_run(workers, filters, multiply_filter, job);
    workers_run(workers, filters, transform_columns_back, job);
    workers_run(workers, filters, transform_rows_back, job);
    workers_run(workers, filters, sum_over_channels, job);
}

static void run_images(struct workers *workers, struct fft_job *job)
{
    for (int image = 0; image < job->shape->batch; image++) {
        run_passes(workers, job);
        job->input += conv_input_count(job->shape);
        job->output += conv_output_count(job->shape);
    }
}

static int make_buffers(struct buffers *buffers, const struct fft_planes *planes, size_t filters,
                        struct buffer ret[BUFFER_COUNT])
{
    size_t image = fft_planes_image_count(planes);
    size_t spectrum = fft_planes_spectrum_count(planes);
    const struct {
        const char *purpose;
        size_t count;
    } wanted[BUFFER_COUNT] = {
        [PADDED] = {"fft.padded", (filters + 1) * image},
        [WORKSPACE] = {"fft.workspace", (filters + 1) * spectrum},
        [SPECTRA] = {"fft.spectra", (filters + 1) * spectrum},
        [PRODUCT] = {"fft.product", filters * spectrum},
        [INVERSE] = {"fft.inverse", filters * image},
    };
    int rc = 0;

    for (int i = 0; i < BUFFER_COUNT && !rc; i++)
        rc = buffer_new(buffers, wanted[i].purpose, MEMLEDGER_TEMPORARY, wanted[i].count, &ret[i]);
    return rc;
}

int conv_fft(struct engine *engine, const struct conv_shape *shape, const float *input,
             const float *weight, float *output)
{
    struct buffer all[BUFFER_COUNT] = {0};
    struct fft_planes planes;
    struct fft_job job = {
        .shape = shape,
        .planes = &planes,
        .input = input,
        .weight = weight,
        .output = output,
    };
    int rc;

    fft_planes_init(&planes, conv_padded_size(shape), shape->in);
    rc = make_buffers(&engine->buffers, &planes, (size_t)shape->out, all);
    if (!rc) {
        for (int i = 0; i < BUFFER_COUNT; i++)
            job.buffer[i] = all[i].data;
        run_images(engine->workers, &job);
    }
    for (int i = BUFFER_COUNT - 1; i >= 0; i--)
        buffer_release(&engine->buffers, &all[i]);
    return rc;
}
