/* cuda_conv_im2col.c: conv_im2col.c on a GPU.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda_conv.h"
#include "cuda_device.h"

static int unfold(struct engine *engine, const struct conv_shape *shape, const float *input,
                  float *col)
{
    struct kernel_unfold_args args = {
        .count = (size_t)shape->in * TAPS * conv_plane(shape),
        .from = input,
        .col = col,
        .size = (unsigned)shape->size,
    };

    return cuda_launch(engine->cuda, "kernel_unfold", args.count, &args);
}

static int multiply(struct engine *engine, const struct conv_shape *shape, const float *weight,
                    const float *col, float *output)
{
    struct kernel_gemm_args args = {
        .count = (size_t)shape->out / KERNEL_FILTERS * (conv_plane(shape) / (size_t)KERNEL_FILTERS),
        .a = weight,
        .b = col,
        .c = output,
        .cols = (unsigned)conv_plane(shape),
        .depth = (unsigned)shape->in * TAPS,
    };

    return cuda_launch(engine->cuda, "kernel_gemm", args.count, &args);
}

/* An image at a time: the matrix of a whole batch has more values than 32 bits count. */
static int run_images(struct engine *engine, const struct conv_shape *shape, const float *input,
                      const float *weight, float *col, float *output)
{
    int rc = 0;

    for (int image = 0; image < shape->batch && !rc; image++) {
        rc = unfold(engine, shape, input, col);
        if (!rc)
            rc = multiply(engine, shape, weight, col, output);
        input += conv_input_count(shape);
        col += TAPS * conv_input_count(shape);
        output += conv_output_count(shape);
    }
    return rc;
}

int cuda_conv_im2col(struct engine *engine, const struct conv_shape *shape, const float *input,
                     const float *weight, float *output)
{
    struct buffer col = {0};
    int rc = buffer_new(&engine->buffers, "col", MEMLEDGER_TEMPORARY,
                        (size_t)shape->batch * TAPS * conv_input_count(shape), &col);

    if (rc)
        return rc;
    rc = run_images(engine, shape, input, weight, col.data, output);
    buffer_release(&engine->buffers, &col);
    return rc;
}
