/* cuda_conv_direct.c: conv_direct.c on a GPU, and the padding that Winograd's
 * algorithm needs as well.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda_conv.h"
#include "cuda_device.h"

int cuda_conv_pad(struct engine *engine, const struct conv_shape *shape, int images,
                  const float *input, float *padded)
{
    struct kernel_pad_args args = {
        .count = (size_t)images * conv_padded_count(shape),
        .from = input,
        .to = padded,
        .size = (unsigned)shape->size,
    };

    return cuda_launch(engine->cuda, "kernel_pad", args.count, &args);
}

static int run_images(struct engine *engine, const struct conv_shape *shape, const float *padded,
                      const float *weight, float *output)
{
    struct kernel_direct_args args = {
        .count = (size_t)shape->out / KERNEL_FILTERS * conv_plane(shape),
        .padded = padded,
        .weight = weight,
        .to = output,
        .shape = kernel_shape_of(shape),
    };
    int rc = 0;

    for (int image = 0; image < shape->batch && !rc; image++) {
        rc = cuda_launch(engine->cuda, "kernel_direct", args.count, &args);
        args.padded += conv_padded_count(shape);
        args.to += conv_output_count(shape);
    }
    return rc;
}

int cuda_conv_direct(struct engine *engine, const struct conv_shape *shape, const float *input,
                     const float *weight, float *output)
{
    struct buffer padded = {0};
    int rc = conv_padded_new(engine, shape, shape->batch, &padded);

    if (!rc)
        rc = cuda_conv_pad(engine, shape, shape->batch, input, padded.data);
    if (!rc)
        rc = run_images(engine, shape, padded.data, weight, output);
    buffer_release(&engine->buffers, &padded);
    return rc;
}
