/* conv.h: the convolution of VGG-19 (3x3, stride 1, padding 1, square images,
 * batch 1) and the algorithms that compute it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef VGG19_CONV_H
#define VGG19_CONV_H

#include "engine.h"

enum { KERNEL = 3, TAPS = KERNEL * KERNEL, PADDING = 1 };

/* Scratch on the stack is sized by these. */
enum { CONV_MAX_CHANNELS = 512, CONV_MAX_SIZE = 512 };

struct conv_shape {
    int in;   /* channels in: up to CONV_MAX_CHANNELS */
    int out;  /* channels out: a multiple of 4 */
    int size; /* height and width: even, up to CONV_MAX_SIZE */
};

/* output[out][size][size] = input[in][size][size] * weight[out][in][3][3], without bias.
 * Returns 0 or a negative errno. It frees everything it allocates before it returns. */
typedef int conv_run(struct engine *engine, const struct conv_shape *shape, const float *input,
                     const float *weight, float *output);

struct conv_algorithm {
    const char *name;
    const char *scope;  /* operator name in the ledger */
    conv_run *run;      /* on the host; NULL: missing */
    conv_run *run_cuda; /* on a GPU */
};

conv_run conv_direct;
conv_run conv_im2col;
conv_run conv_winograd;
conv_run conv_fft;

conv_run cuda_conv_direct;
conv_run cuda_conv_im2col;
conv_run cuda_conv_winograd;
conv_run cuda_conv_fft;
conv_run cuda_conv_cudnn;

/* Ends with a name of NULL. */
extern const struct conv_algorithm conv_algorithms[];

/* NULL when no algorithm has that name. */
const struct conv_algorithm *conv_find(const char *name);

static inline size_t conv_weight_count(const struct conv_shape *shape)
{
    return (size_t)shape->out * (size_t)shape->in * TAPS;
}

static inline size_t conv_plane(const struct conv_shape *shape)
{
    return (size_t)shape->size * (size_t)shape->size;
}

/* Height and width with the border of zeros. */
static inline int conv_padded_size(const struct conv_shape *shape)
{
    return shape->size + 2 * PADDING;
}

/* Makes a copy of the input with its border, [in][size + 2][size + 2], so that
 * inner loops need no test. */
int conv_pad(struct engine *engine, const struct conv_shape *shape, const float *input,
             struct buffer *ret);

#endif
