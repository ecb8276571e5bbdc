/* cuda_conv_winograd.c: conv_winograd.c on a GPU, in the same buffers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda_conv.h"
#include "cuda_device.h"

enum { TILE = 2, POINTS = 16 };

enum { PADDED, FILTER, PRODUCT, SUM, BUFFER_COUNT };

struct winograd_counts {
    size_t pairs; /* of filter and channel */
    size_t tiles;
    size_t filters;
};

static struct winograd_counts counts_of(const struct conv_shape *shape)
{
    return (struct winograd_counts){
        .pairs = (size_t)shape->out * (size_t)shape->in,
        .tiles = conv_plane(shape) / (TILE * TILE),
        .filters = (size_t)shape->out,
    };
}

static int make_buffers(struct engine *engine, const struct conv_shape *shape,
                        struct buffer ret[BUFFER_COUNT])
{
    struct winograd_counts n = counts_of(shape);
    const struct {
        const char *purpose;
        size_t count;
    } wanted[BUFFER_COUNT] = {
        [FILTER] = {"winograd.filter", n.pairs * POINTS},
        [PRODUCT] = {"winograd.product", n.tiles * n.pairs * POINTS},
        [SUM] = {"winograd.sum", n.tiles * n.filters * POINTS},
    };
    int rc = conv_padded_new(engine, shape, 1, &ret[PADDED]);

    for (int i = FILTER; i < BUFFER_COUNT && !rc; i++)
        rc = buffer_new(&engine->buffers, wanted[i].purpose, MEMLEDGER_TEMPORARY, wanted[i].count,
                        &ret[i]);
    return rc;
}

/* Of one image. */
static int run_passes(struct cuda *cuda, const struct conv_shape *shape,
                      struct kernel_winograd_args *args)
{
    struct winograd_counts n = counts_of(shape);
    const struct {
        const char *kernel;
        size_t count;
    } passes[] = {
        {"kernel_winograd_filter", n.pairs},
        {"kernel_winograd_multiply", n.tiles * n.pairs * POINTS},
        {"kernel_winograd_sum", n.tiles * n.filters * POINTS},
        {"kernel_winograd_finish", n.tiles * n.filters},
    };
    int rc = 0;

    for (size_t i = 0; i < sizeof(passes) / sizeof(passes[0]) && !rc; i++) {
        args->count = passes[i].count;
        rc = cuda_launch(cuda, passes[i].kernel, args->count, args);
    }
    return rc;
}

static int run_images(struct engine *engine, const struct conv_shape *shape, const float *input,
                      const float *weight, const struct buffer *all, float *output)
{
    struct kernel_winograd_args args = {
        .padded = all[PADDED].data,
        .weight = weight,
        .filter = all[FILTER].data,
        .product = all[PRODUCT].data,
        .sum = all[SUM].data,
        .to = output,
        .shape = kernel_shape_of(shape),
    };
    int rc = 0;

    for (int image = 0; image < shape->batch && !rc; image++) {
        rc = cuda_conv_pad(engine, shape, 1, input, all[PADDED].data);
        if (!rc)
            rc = run_passes(engine->cuda, shape, &args);
        input += conv_input_count(shape);
        args.to += conv_output_count(shape);
    }
    return rc;
}

int cuda_conv_winograd(struct engine *engine, const struct conv_shape *shape, const float *input,
                       const float *weight, float *output)
{
    struct buffer all[BUFFER_COUNT] = {0};
    int rc = make_buffers(engine, shape, all);

    if (!rc)
        rc = run_images(engine, shape, input, weight, all, output);
    for (int i = BUFFER_COUNT - 1; i >= 0; i--)
        buffer_release(&engine->buffers, &all[i]);
    return rc;
}
