/* conv.c: the table of convolution algorithms, and the padding two of them
 * share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conv.h"

#include <string.h>

const struct conv_algorithm conv_algorithms[] = {
    {"direct", "conv_direct", conv_direct, cuda_conv_direct},
    {"im2col", "conv_im2col", conv_im2col, cuda_conv_im2col},
    {"winograd", "conv_winograd", conv_winograd, cuda_conv_winograd},
    {"fft", "conv_fft", conv_fft, cuda_conv_fft},
    {"cudnn", "conv_cudnn", NULL, cuda_conv_cudnn},
    {NULL, NULL, NULL, NULL},
};

const struct conv_algorithm *conv_find(const char *name)
{
    for (const struct conv_algorithm *a = conv_algorithms; a->name; a++)
        if (!strcmp(a->name, name))
            return a;
    return NULL;
}

struct pad_job {
    const struct conv_shape *shape;
    const float *input;
    float *padded;
};

/* Channels are counted over all images. */
static void pad_channel(const void *arg, size_t channel)
{
    const struct pad_job *job = arg;
    size_t size = (size_t)job->shape->size;
    size_t padded_size = (size_t)conv_padded_size(job->shape);
    const float *from = job->input + channel * size * size;
    float *to = job->padded + channel * padded_size * padded_size;

    memset(to, 0, padded_size * padded_size * sizeof(float));
    to += PADDING * padded_size + PADDING;
    for (size_t y = 0; y < size; y++)
        memcpy(to + y * padded_size, from + y * size, size * sizeof(float));
}

int conv_padded_new(struct engine *engine, const struct conv_shape *shape, int images,
                    struct buffer *ret)
{
    return buffer_new(&engine->buffers, "padded", MEMLEDGER_TEMPORARY,
                      (size_t)images * conv_padded_count(shape), ret);
}

void conv_pad(struct engine *engine, const struct conv_shape *shape, int images, const float *input,
              float *padded)
{
    struct pad_job job = {.shape = shape, .input = input, .padded = padded};

    workers_run(engine->workers, (size_t)images * (size_t)shape->in, pad_channel, &job);
}
