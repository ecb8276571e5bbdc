/* conv.h: the convolution of VGG-19 (3x3, stride 1, padding 1, square images)
 * and the algorithms that compute it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef VGG19_CONV_H
#define VGG19_CONV_H

#include "engine.h"

enum { KERNEL = 3, TAPS = KERNEL * KERNEL, PADDING = 1 };

/* Scratch on the stack is sized by these. */
enum { CONV_MAX_CHANNELS = 512, CONV_MAX_SIZE = 512 };

/* GPU kernels that take a whole batch count in 32 bits. */
enum { CONV_MAX_BATCH = 64 };

struct conv_shape {
    int batch; /* images: 1 to CONV_MAX_BATCH */
    int in;    /* channels in: up to CONV_MAX_CHANNELS */
    int out;   /* channels out: a multiple of 4 */
    int size;  /* height and width: even, up to CONV_MAX_SIZE */
};

/* output[batch][out][size][size] = input[batch][in][size][size] * weight[out][in][3][3], without
 * bias. An image's result does not depend on the others, to the last bit, unless a library
 * computes it.
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

/* Floats of one image. */
static inline size_t conv_input_count(const struct conv_shape *shape)
{
    return (size_t)shape->in * conv_plane(shape);
}

static inline size_t conv_output_count(const struct conv_shape *shape)
{
    return (size_t)shape->out * conv_plane(shape);
}

/* Height and width with the border of zeros. */
static inline int conv_padded_size(const struct conv_shape *shape)
{
    return shape->size + 2 * PADDING;
}

/* Floats of one image with its border. */
static inline size_t conv_padded_count(const struct conv_shape *shape)
{
    return (size_t)shape->in * (size_t)conv_padded_size(shape) * (size_t)conv_padded_size(shape);
}

/* Allocates the buffer "padded" for that many images with their border,
 * [images][in][size + 2][size + 2], on any engine. */
int conv_padded_new(struct engine *engine, const struct conv_shape *shape, int images,
                    struct buffer *ret);

/* Copies images into such a buffer, so that inner loops need no test. */
void conv_pad(struct engine *engine, const struct conv_shape *shape, int images, const float *input,
              float *padded);

#endif
