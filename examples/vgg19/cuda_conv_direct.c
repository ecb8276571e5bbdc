/* cuda_conv_direct.c: conv_direct.c on a GPU, and the padding that Winograd's
 * algorithm needs as well.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda_conv.h"
#include "cuda_device.h"

int cuda_conv_pad(struct engine *engine, const struct conv_shape *shape, const float *input,
                  struct buffer *ret)
{
    size_t side = (size_t)conv_padded_size(shape);
    struct kernel_pad_args args = {
        .count = (size_t)shape->in * side * side,
        .from = input,
        .size = (unsigned)shape->size,
    };
    int rc = buffer_new(&engine->buffers, "padded", MEMLEDGER_TEMPORARY, args.count, ret);

    if (rc)
        return rc;
    args.to = ret->data;
    rc = cuda_launch(engine->cuda, "kernel_pad", args.count, &args);
    if (rc)
        buffer_release(&engine->buffers, ret);
    return rc;
}

int cuda_conv_direct(struct engine *engine, const struct conv_shape *shape, const float *input,
                     const float *weight, float *output)
{
    struct kernel_direct_args args = {
        .count = (size_t)shape->out / KERNEL_FILTERS * conv_plane(shape),
        .weight = weight,
        .to = output,
        .shape = kernel_shape_of(shape),
    };
    struct buffer padded = {0};
    int rc = cuda_conv_pad(engine, shape, input, &padded);

    if (rc)
        return rc;
    args.padded = padded.data;
    rc = cuda_launch(engine->cuda, "kernel_direct", args.count, &args);
    buffer_release(&engine->buffers, &padded);
    return rc;
}
