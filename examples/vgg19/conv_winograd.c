/* conv_winograd.c: Winograd's F(2x2,3x3): 16 products instead of 36 for each 2x2 tile, channel
 * and filter. As in the program it is modelled on, every product is kept, and a second pass
 * sums them over the input channels: the product buffer, (size/2)^2 * in * out * 16 floats,
 * fills the memory. A matrix product per tile position would need none of it. The images of a
 * batch take turns in the same buffers.
 *
 *     U = G g G'        filter g, once per layer
 *     V = B' d B        4x4 window d, on the fly
 *     product = U .* V  per tile, filter and channel
 *     y = A' (sum over channels of product) A
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conv.h"

enum {
    TILE = 2,
    WINDOW = 4,
    POINTS = WINDOW * WINDOW,
    TILES_AT_ONCE = 4, /* tiles that share one pass over U */
};

struct winograd_job {
    const struct conv_shape *shape;
    const float *padded;
    const float *weight;
    float *output;
    float *filter;  /* [out][in][16] */
    float *product; /* [tile][out][in][16] */
    float *sum;     /* [tile][out][16] */
};

static size_t tiles_across(const struct conv_shape *shape)
{
    return (size_t)shape->size / TILE;
}

static size_t tile_count(const struct conv_shape *shape)
{
    return tiles_across(shape) * tiles_across(shape);
}

/* U = G g G', with G = [1 0 0; 1/2 1/2 1/2; 1/2 -1/2 1/2; 0 0 1]. */
static void transform_one_filter(const float g[TAPS], float u[POINTS])
{
    float t[WINDOW][KERNEL];

    for (int x = 0; x < KERNEL; x++) {
        float ends = g[x] + g[2 * KERNEL + x];

        t[0][x] = g[x];
        t[1][x] = 0.5f * (ends + g[KERNEL + x]);
        t[2][x] = 0.5f * (ends - g[KERNEL + x]);
        t[3][x] = g[2 * KERNEL + x];
    }
    for (int y = 0; y < WINDOW; y++, u += WINDOW) {
        float ends = t[y][0] + t[y][2];

        u[0] = t[y][0];
        u[1] = 0.5f * (ends + t[y][1]);
        u[2] = 0.5f * (ends - t[y][1]);
        u[3] = t[y][2];
    }
}

/* V = B' d B, with B' = [1 0 -1 0; 0 1 1 0; 0 -1 1 0; 0 1 0 -1]. */
static void transform_window(const float *d, size_t stride, float v[POINTS])
{
    float t[WINDOW][WINDOW];

    for (int x = 0; x < WINDOW; x++, d++) {
        t[0][x] = d[0] - d[2 * stride];
        t[1][x] = d[stride] + d[2 * stride];
        t[2][x] = d[2 * stride] - d[stride];
        t[3][x] = d[stride] - d[3 * stride];
    }
    for (int y = 0; y < WINDOW; y++, v += WINDOW) {
        v[0] = t[y][0] - t[y][2];
        v[1] = t[y][1] + t[y][2];
        v[2] = t[y][2] - t[y][1];
        v[3] = t[y][1] - t[y][3];
    }
}

/* y = A' m A, with A' = [1 1 1 0; 0 1 -1 -1]. */
static void transform_result(const float m[POINTS], float *y, size_t stride)
{
    float t[TILE][WINDOW];

    for (int x = 0; x < WINDOW; x++) {
        t[0][x] = m[x] + m[WINDOW + x] + m[2 * WINDOW + x];
        t[1][x] = m[WINDOW + x] - m[2 * WINDOW + x] - m[3 * WINDOW + x];
    }
    for (int i = 0; i < TILE; i++, y += stride) {
        y[0] = t[i][0] + t[i][1] + t[i][2];
        y[1] = t[i][1] - t[i][2] - t[i][3];
    }
}

static void transform_filters(const void *arg, size_t filter)
{
    const struct winograd_job *job = arg;
    size_t channels = (size_t)job->shape->in;

    for (size_t i = filter * channels; i < (filter + 1) * channels; i++)
        transform_one_filter(job->weight + i * TAPS, job->filter + i * POINTS);
}

static void transform_windows(const struct winograd_job *job, size_t tile, float (*v)[POINTS])
{
    size_t stride = (size_t)conv_padded_size(job->shape);
    size_t y = tile / tiles_across(job->shape) * TILE;
    size_t x = tile % tiles_across(job->shape) * TILE;

    for (size_t c = 0; c < (size_t)job->shape->in; c++)
        transform_window(job->padded + (c * stride + y) * stride + x, stride, v[c]);
}

static void multiply(const float *restrict u, const float *restrict v, float *restrict product,
                     size_t count)
{
    for (size_t i = 0; i < count; i++)
        product[i] = u[i] * v[i]; /* NOLINT(clang-analyzer-core.*): v is filled so far */
}

/* Item: a few neighbouring tiles, all filters, all channels. */
static void multiply_tiles(const void *arg, size_t index)
{
    const struct winograd_job *job = arg;
    size_t first = index * TILES_AT_ONCE;
    size_t left = tile_count(job->shape) - first;
    size_t tiles = left < TILES_AT_ONCE ? left : TILES_AT_ONCE;
    size_t filters = (size_t)job->shape->out;
    size_t points = (size_t)job->shape->in * POINTS;
    float v[TILES_AT_ONCE][CONV_MAX_CHANNELS][POINTS];

    for (size_t t = 0; t < tiles; t++)
        transform_windows(job, first + t, v[t]);
    for (size_t f = 0; f < filters; f++)
        for (size_t t = 0; t < tiles; t++)
            multiply(job->filter + f * points, v[t][0],
                     job->product + ((first + t) * filters + f) * points, points);
}

static void sum_over_channels(const float *restrict product, size_t channels,
                              float *restrict result)
{
    float sum[POINTS] = {0};

    for (size_t c = 0; c < channels; c++, product += POINTS)
        for (int i = 0; i < POINTS; i++)
            sum[i] += product[i];
    for (int i = 0; i < POINTS; i++)
        result[i] = sum[i];
}

static void sum_tile(const void *arg, size_t tile)
{
    const struct winograd_job *job = arg;
    size_t filters = (size_t)job->shape->out;
    size_t channels = (size_t)job->shape->in;

    for (size_t i = tile * filters; i < (tile + 1) * filters; i++)
        sum_over_channels(job->product + i * channels * POINTS, channels, job->sum + i * POINTS);
}

static void finish_filter(const void *arg, size_t filter)
{
    const struct winograd_job *job = arg;
    size_t size = (size_t)job->shape->size;
    size_t across = tiles_across(job->shape);
    float *image = job->output + filter * size * size;

    for (size_t tile = 0; tile < across * across; tile++)
        transform_result(job->sum + (tile * (size_t)job->shape->out + filter) * POINTS,
                         image + (tile / across * size + tile % across) * TILE, size);
}

/* Of one image. */
static void run_passes(struct workers *workers, const struct winograd_job *job)
{
    size_t filters = (size_t)job->shape->out;
    size_t tiles = tile_count(job->shape);

    workers_run(workers, (tiles + TILES_AT_ONCE - 1) / TILES_AT_ONCE, multiply_tiles, job);
    workers_run(workers, tiles, sum_tile, job);
    workers_run(workers, filters, finish_filter, job);
}

enum { PADDED, FILTER, PRODUCT, SUM, BUFFER_COUNT };

static int make_buffers(struct engine *engine, const struct conv_shape *shape,
                        struct buffer ret[BUFFER_COUNT])
{
    size_t pairs = (size_t)shape->out * (size_t)shape->in;
    size_t tiles = tile_count(shape);
    const struct {
        const char *purpose;
        size_t count;
    } wanted[BUFFER_COUNT] = {
        [FILTER] = {"winograd.filter", pairs * POINTS},
        [PRODUCT] = {"winograd.product", tiles * pairs * POINTS},
        [SUM] = {"winograd.sum", tiles * (size_t)shape->out * POINTS},
    };
    int rc = conv_padded_new(engine, shape, 1, &ret[PADDED]);

    for (int i = FILTER; i < BUFFER_COUNT && !rc; i++)
        rc = buffer_new(&engine->buffers, wanted[i].purpose, MEMLEDGER_TEMPORARY, wanted[i].count,
                        &ret[i]);
    return rc;
}

static void run_images(struct engine *engine, const struct conv_shape *shape, const float *input,
                       const float *weight, const struct buffer *all, float *output)
{
    struct winograd_job job = {
        .shape = shape,
        .padded = all[PADDED].data,
        .weight = weight,
        .output = output,
        .filter = all[FILTER].data,
        .product = all[PRODUCT].data,
        .sum = all[SUM].data,
    };

    workers_run(engine->workers, (size_t)shape->out, transform_filters, &job);
    for (int image = 0; image < shape->batch; image++) {
        conv_pad(engine, shape, 1, input, all[PADDED].data);
        run_passes(engine->workers, &job);
        input += conv_input_count(shape);
        job.output += conv_output_count(shape);
    }
}

int conv_winograd(struct engine *engine, const struct conv_shape *shape, const float *input,
                  const float *weight, float *output)
{
    struct buffer all[BUFFER_COUNT] = {0};
    int rc = make_buffers(engine, shape, all);

    if (!rc)
        run_images(engine, shape, input, weight, all, output);
    for (int i = BUFFER_COUNT - 1; i >= 0; i--)
        buffer_release(&engine->buffers, &all[i]);
    return rc;
}
