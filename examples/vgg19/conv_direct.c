/* conv_direct.c: the convolution by its definition: no workspace, only the padded inputs of
 * the batch. Four filters go over eight neighbouring pixels at a time, so that each value read
 * is used often.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conv.h"
#include "vec4.h"

enum { FILTERS = 4, PIXELS = 2 * VEC4 };

struct direct_job {
    const struct conv_shape *shape;
    const float *padded;
    const float *weight;
    float *output;
};

/* One tile: its input window and its output. */
struct direct_tile {
    const float *window;
    const float *weight; /* of the first of the four filters */
    float *output;
};

static size_t tap_offset(int tap, size_t stride)
{
    return (size_t)(tap / KERNEL) * stride + (size_t)(tap % KERNEL);
}

static void tile_of_eight(const struct direct_job *job, const struct direct_tile *tile)
{
    size_t stride = (size_t)conv_padded_size(job->shape);
    size_t filter = (size_t)job->shape->in * TAPS;
    vec4 sum[FILTERS][2] = {{{0}}};

    for (int c = 0; c < job->shape->in; c++) {
        for (int tap = 0; tap < TAPS; tap++) {
            const float *x = tile->window + (size_t)c * stride * stride + tap_offset(tap, stride);
            const float *w = tile->weight + (size_t)c * TAPS + tap;
            vec4 low = vec4_load(x);
            vec4 high = vec4_load(x + VEC4);

            for (size_t f = 0; f < FILTERS; f++) {
                sum[f][0] += low * w[f * filter];
                sum[f][1] += high * w[f * filter];
            }
        }
    }
    for (size_t f = 0; f < FILTERS; f++) {
        vec4_store(tile->output + f * conv_plane(job->shape), sum[f][0]);
        vec4_store(tile->output + f * conv_plane(job->shape) + VEC4, sum[f][1]);
    }
}

/* For rows shorter than eight: the deep layers of small images. */
static void single_pixel(const struct direct_job *job, const struct direct_tile *tile)
{
    size_t stride = (size_t)conv_padded_size(job->shape);
    size_t filter = (size_t)job->shape->in * TAPS;

    for (size_t f = 0; f < FILTERS; f++) {
        const float *w = tile->weight + f * filter;
        float sum = 0;

        for (int c = 0; c < job->shape->in; c++)
            for (int tap = 0; tap < TAPS; tap++)
                sum += *w++ * tile->window[(size_t)c * stride * stride + tap_offset(tap, stride)];
        tile->output[f * conv_plane(job->shape)] = sum;
    }
}

/* Item: one row of four output channels. */
static void direct_row(const void *arg, size_t index)
{
    const struct direct_job *job = arg;
    size_t size = (size_t)job->shape->size;
    size_t first = index / size * FILTERS;
    size_t y = index % size;
    struct direct_tile tile = {
        .window = job->padded + y * (size_t)conv_padded_size(job->shape),
        .weight = job->weight + first * (size_t)job->shape->in * TAPS,
        .output = job->output + (first * size + y) * size,
    };
    size_t x = 0;

    for (; x + PIXELS <= size; x += PIXELS) {
        tile_of_eight(job, &tile);
        tile.window += PIXELS;
        tile.output += PIXELS;
    }
    for (; x < size; x++) {
        single_pixel(job, &tile);
        tile.window++;
        tile.output++;
    }
}

static void direct_image(struct workers *workers, const struct direct_job *job)
{
    workers_run(workers, (size_t)(job->shape->out / FILTERS) * (size_t)job->shape->size, direct_row,
                job);
}

int conv_direct(struct engine *engine, const struct conv_shape *shape, const float *input,
                const float *weight, float *output)
{
    struct direct_job job = {.shape = shape, .weight = weight, .output = output};
    struct buffer padded = {0};
    int rc;

    rc = conv_padded_new(engine, shape, shape->batch, &padded);
    if (rc)
        return rc;
    conv_pad(engine, shape, shape->batch, input, padded.data);
    job.padded = padded.data;
    for (int image = 0; image < shape->batch; image++) {
        direct_image(engine->workers, &job);
        job.padded += conv_padded_count(shape);
        job.output += conv_output_count(shape);
    }
    buffer_release(&engine->buffers, &padded);
    return 0;
}
