/* kernel_args.h: the arguments of each CUDA kernel. Read by the host's compiler and, as the
 * beginning of the kernels' text, by NVRTC or nvcc: both sides see one declaration. Every
 * kernel takes one of these structs and nothing else, and runs once for each of `count`
 * threads.
 *
 * Addresses are device addresses. Layouts are those of the host's functions. Kernels of layers
 * and kernel_pad take a whole batch, the others one image. For 64 images of 512 all counts
 * except that of Winograd's products fit 32 bits, which divide faster.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef VGG19_KERNEL_ARGS_H
#define VGG19_KERNEL_ARGS_H

/* Points of the largest transform: an image of 512 with its border. */
#define KERNEL_TWIDDLES 514

/* A convolution takes this many filters (and columns of a product) a thread. */
#define KERNEL_FILTERS 4

struct kernel_shape {
    unsigned in, out; /* channels */
    unsigned size;    /* side of an image; its border not counted */
};

/* One thread a pair of numbers. */
struct kernel_fill_args {
    unsigned long count;
    float *to;
    unsigned long numbers;
    unsigned long key;
    float scale;
};

/* One thread a value. Without `bias`, only clips. */
struct kernel_bias_relu_args {
    unsigned long count;
    float *data;
    const float *bias;
    unsigned channels;
    unsigned plane;
};

/* One thread an output value. */
struct kernel_pool_args {
    unsigned long count;
    const float *from;
    float *to;
    unsigned size; /* side of an input plane */
    unsigned side; /* side of an output plane */
};

/* One thread an output value. */
struct kernel_linear_args {
    unsigned long count;
    const float *from;
    const float *weight;
    const float *bias;
    float *to;
    unsigned in, out;
    unsigned relu;
};

/* One thread a value of the padded images. */
struct kernel_pad_args {
    unsigned long count;
    const float *from;
    float *to;
    unsigned size;
};

/* One thread a pixel of KERNEL_FILTERS filters. */
struct kernel_direct_args {
    unsigned long count;
    const float *padded;
    const float *weight;
    float *to;
    struct kernel_shape shape;
};

/* One thread a value of the matrix. */
struct kernel_unfold_args {
    unsigned long count;
    const float *from;
    float *col;
    unsigned size;
};

/* c[rows][cols] = a[rows][depth] * b[depth][cols]; one thread KERNEL_FILTERS rows of as many
 * columns, a quarter of a row apart. */
struct kernel_gemm_args {
    unsigned long count;
    const float *a;
    const float *b;
    float *c;
    unsigned cols, depth;
};

/* Threads: filter a pair (out, in); multiply a value of the product; sum a
 * value of the sum; finish a tile of one filter. */
struct kernel_winograd_args {
    unsigned long count;
    const float *padded;
    const float *weight;
    float *filter;
    float *product;
    float *sum;
    float *to;
    struct kernel_shape shape;
};

/* `from` and `to` are images [slot][side][side][in] or spectra
 * [slot][side][bins][re, im][in]. A slot holds a filter or, after the last of
 * them, the image. Threads: pad a value; rows a bin; columns two bins, a half
 * apart; multiply a bin; rows back two values, mirror images; sum a pixel. */
struct kernel_fft_args {
    unsigned long count;
    const float *from;
    const float *other; /* pad: the filters; multiply: the image's spectrum */
    float *to;
    struct kernel_shape shape;
    int direction; /* of columns: 1 forward, -1 back */
};

#endif
