/* cuda_conv_fft.c: conv_fft.c on a GPU, in the same buffers, which that file
 * describes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda_conv.h"
#include "cuda_device.h"

#include <assert.h>
#include <math.h>

static_assert(CONV_MAX_SIZE + 2 * PADDING <= KERNEL_TWIDDLES, "tables cover the largest image");

enum { PADDED, WORKSPACE, SPECTRA, PRODUCT, INVERSE, BUFFER_COUNT };

struct fft_counts {
    size_t filters;
    size_t image;    /* floats of one slot's image */
    size_t spectrum; /* floats of one slot's spectrum */
    size_t bins;     /* complex numbers of the same */
    size_t columns;  /* pairs of outputs in the columns of a slot */
};

static struct fft_counts counts_of(const struct conv_shape *shape)
{
    size_t side = (size_t)conv_padded_size(shape), in = (size_t)shape->in;
    size_t bins = side * (side / 2 + 1) * in;

    return (struct fft_counts){
        .filters = (size_t)shape->out,
        .image = side * side * in,
        .spectrum = 2 * bins,
        .bins = bins,
        .columns = bins / 2,
    };
}

static int make_buffers(struct buffers *buffers, const struct fft_counts *n,
                        struct buffer ret[BUFFER_COUNT])
{
    const struct {
        const char *purpose;
        size_t count;
    } wanted[BUFFER_COUNT] = {
        [PADDED] = {"fft.padded", (n->filters + 1) * n->image},
        [WORKSPACE] = {"fft.workspace", (n->filters + 1) * n->spectrum},
        [SPECTRA] = {"fft.spectra", (n->filters + 1) * n->spectrum},
        [PRODUCT] = {"fft.product", n->filters * n->spectrum},
        [INVERSE] = {"fft.inverse", n->filters * n->image},
    };
    int rc = 0;

    for (int i = 0; i < BUFFER_COUNT && !rc; i++)
        rc = buffer_new(buffers, wanted[i].purpose, MEMLEDGER_TEMPORARY, wanted[i].count, &ret[i]);
    return rc;
}

static int set_tables(struct cuda *cuda, int side)
{
    float cosine[KERNEL_TWIDDLES], sine[KERNEL_TWIDDLES];
    int rc;

    for (int k = 0; k < side; k++) {
        double angle = 2 * M_PI * k / side;

        cosine[k] = (float)cos(angle);
        sine[k] = (float)sin(angle);
    }
    rc = cuda_set_table(cuda, "kernel_cosine", cosine, (size_t)side);
    return rc ? rc : cuda_set_table(cuda, "kernel_sine", sine, (size_t)side);
}

/* A row: a kernel, its threads, and what it reads and writes. */
struct fft_pass {
    const char *kernel;
    size_t count;
    const float *from;
    const float *other;
    float *to;
    int direction;
};

static int run_pass(struct cuda *cuda, const struct conv_shape *shape, const struct fft_pass *pass)
{
    struct kernel_fft_args args = {
        .count = pass->count,
        .from = pass->from,
        .other = pass->other,
        .to = pass->to,
        .shape = kernel_shape_of(shape),
        .direction = pass->direction,
    };

    return cuda_launch(cuda, pass->kernel, args.count, &args);
}

/* Of one image. */
static int run_passes(struct cuda *cuda, const struct conv_shape *shape, const struct fft_counts *n,
                      const float *input, const float *weight, const struct buffer *all,
                      float *output)
{
    size_t filters = n->filters;
    const float *image_spectrum = all[SPECTRA].data + filters * n->spectrum;
    const struct fft_pass passes[] = {
        {"kernel_fft_pad", (filters + 1) * n->image, input, weight, all[PADDED].data, 0},
        {"kernel_fft_rows", (filters + 1) * n->bins, all[PADDED].data, NULL, all[WORKSPACE].data,
         0},
        {"kernel_fft_columns", (filters + 1) * n->columns, all[WORKSPACE].data, NULL,
         all[SPECTRA].data, 1},
        {"kernel_fft_multiply", filters * n->bins, all[SPECTRA].data, image_spectrum,
         all[PRODUCT].data, 0},
        {"kernel_fft_columns", filters * n->columns, all[PRODUCT].data, NULL, all[WORKSPACE].data,
         -1},
        {"kernel_fft_rows_back", filters * n->bins, all[WORKSPACE].data, NULL, all[INVERSE].data,
         0},
        {"kernel_fft_sum", filters * conv_plane(shape), all[INVERSE].data, NULL, output, 0},
    };
    int rc = 0;

    for (size_t i = 0; i < sizeof(passes) / sizeof(passes[0]) && !rc; i++)
        rc = run_pass(cuda, shape, &passes[i]);
    return rc;
}

static int run_images(struct cuda *cuda, const struct conv_shape *shape, const struct fft_counts *n,
                      const float *input, const float *weight, const struct buffer *all,
                      float *output)
{
    int rc = set_tables(cuda, conv_padded_size(shape));

    for (int image = 0; image < shape->batch && !rc; image++) {
        rc = run_passes(cuda, shape, n, input, weight, all, output);
        input += conv_input_count(shape);
        output += conv_output_count(shape);
    }
    return rc;
}

int cuda_conv_fft(struct engine *engine, const struct conv_shape *shape, const float *input,
                  const float *weight, float *output)
{
    struct fft_counts counts = counts_of(shape);
    struct buffer all[BUFFER_COUNT] = {0};
    int rc = make_buffers(&engine->buffers, &counts, all);

    if (!rc)
        rc = run_images(engine->cuda, shape, &counts, input, weight, all, output);
    for (int i = BUFFER_COUNT - 1; i >= 0; i--)
        buffer_release(&engine->buffers, &all[i]);
    return rc;
}
