/* conv_im2col.c: lays the nine shifted copies of each input channel under one
 * another, for all images, and multiplies once an image. Nine times the input in
 * memory, for the speed of a matrix product.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conv.h"
#include "gemm.h"

#include <string.h>

struct im2col_job {
    const struct conv_shape *shape;
    const float *input;
    float *col; /* [batch][in][3][3][size][size] */
};

/* The image shifted by (dy, dx), each -1, 0 or 1, with zeros at the border. */
static void copy_shifted(const float *image, int size, int dy, int dx, float *to)
{
    int from_x = dx > 0 ? dx : 0;
    int to_x = dx < 0 ? -dx : 0;
    size_t width = (size_t)(size - from_x - to_x) * sizeof(float);

    for (int y = 0; y < size; y++, to += size) {
        memset(to, 0, (size_t)size * sizeof(float));
        if (y + dy >= 0 && y + dy < size)
            memcpy(to + to_x, image + (ptrdiff_t)(y + dy) * size + from_x, width);
    }
}

/* Channels are counted over all images. */
static void unfold_channel(const void *arg, size_t channel)
{
    const struct im2col_job *job = arg;
    size_t plane = conv_plane(job->shape);

    for (int tap = 0; tap < TAPS; tap++)
        copy_shifted(job->input + channel * plane, job->shape->size, tap / KERNEL - PADDING,
                     tap % KERNEL - PADDING, job->col + (channel * TAPS + (size_t)tap) * plane);
}

int conv_im2col(struct engine *engine, const struct conv_shape *shape, const float *input,
                const float *weight, float *output)
{
    struct im2col_job job = {.shape = shape, .input = input};
    size_t batch = (size_t)shape->batch;
    size_t depth = (size_t)shape->in * TAPS;
    size_t matrix = depth * conv_plane(shape);
    struct buffer col = {0};
    int rc;

    rc = buffer_new(&engine->buffers, "col", MEMLEDGER_TEMPORARY, batch * matrix, &col);
    if (rc)
        return rc;
    job.col = col.data;
    workers_run(engine->workers, batch * (size_t)shape->in, unfold_channel, &job);
    for (size_t image = 0; image < batch; image++)
        gemm(engine->workers, (size_t)shape->out, conv_plane(shape), depth, weight,
             col.data + image * matrix, output + image * conv_output_count(shape));
    buffer_release(&engine->buffers, &col);
    return 0;
}
