/* cuda_conv.h: functions shared by the convolutions on a GPU.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef VGG19_CUDA_CONV_H
#define VGG19_CUDA_CONV_H

#include "conv.h"
#include "kernels/kernel_args.h"

static inline struct kernel_shape kernel_shape_of(const struct conv_shape *shape)
{
    return (struct kernel_shape){
        .in = (unsigned)shape->in,
        .out = (unsigned)shape->out,
        .size = (unsigned)shape->size,
    };
}

/* conv_pad on the GPU. Returns 0 or a negative errno. */
int cuda_conv_pad(struct engine *engine, const struct conv_shape *shape, int images,
                  const float *input, float *padded);

#endif
