/* emulated_kernels.c: defines the macros of kernels/kernel_begin.h for C, and includes the
 * kernels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "emulated_kernels.h"

#include "kernels/kernel_args.h"

#include <string.h>

#define KERNEL static void
#define HELPER static
#define TABLE static float

static unsigned long current_thread;

HELPER unsigned long thread_index(void)
{
    return current_thread;
}

#include "kernels/kernel_layers.cu"
#include "kernels/kernel_direct.cu"
#include "kernels/kernel_im2col.cu"
#include "kernels/kernel_winograd.cu"
#include "kernels/kernel_fft.cu"

/* Every kernel and the struct that it takes. */
#define KERNELS(X)                                                                                 \
    X(kernel_fill, kernel_fill_args)                                                               \
    X(kernel_bias_relu, kernel_bias_relu_args)                                                     \
    X(kernel_max_pool, kernel_pool_args)                                                           \
    X(kernel_adaptive_pool, kernel_pool_args)                                                      \
    X(kernel_linear, kernel_linear_args)                                                           \
    X(kernel_pad, kernel_pad_args)                                                                 \
    X(kernel_direct, kernel_direct_args)                                                           \
    X(kernel_unfold, kernel_unfold_args)                                                           \
    X(kernel_gemm, kernel_gemm_args)                                                               \
    X(kernel_winograd_filter, kernel_winograd_args)                                                \
    X(kernel_winograd_multiply, kernel_winograd_args)                                              \
    X(kernel_winograd_sum, kernel_winograd_args)                                                   \
    X(kernel_winograd_finish, kernel_winograd_args)                                                \
    X(kernel_fft_pad, kernel_fft_args)                                                             \
    X(kernel_fft_rows, kernel_fft_args)                                                            \
    X(kernel_fft_columns, kernel_fft_args)                                                         \
    X(kernel_fft_multiply, kernel_fft_args)                                                        \
    X(kernel_fft_rows_back, kernel_fft_args)                                                       \
    X(kernel_fft_sum, kernel_fft_args)

#define X(kernel, type)                                                                            \
    static void run_##kernel(const void *args, size_t threads)                                     \
    {                                                                                              \
        struct type copy;                                                                          \
                                                                                                   \
        memcpy(&copy, args, sizeof(copy));                                                         \
        for (current_thread = 0; current_thread < threads; current_thread++)                       \
            kernel(copy);                                                                          \
    }
KERNELS(X)
#undef X

static const struct emulated_kernel kernels[] = {
#define X(kernel, type) {#kernel, run_##kernel},
    KERNELS(X)
#undef X
};

static const struct emulated_table tables[] = {
    {"kernel_cosine", kernel_cosine, sizeof(kernel_cosine)},
    {"kernel_sine", kernel_sine, sizeof(kernel_sine)},
};

const struct emulated_kernel *emulated_kernel_find(const char *name)
{
    for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++)
        if (!strcmp(kernels[i].name, name))
            return &kernels[i];
    return NULL;
}

const struct emulated_table *emulated_table_find(const char *name)
{
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
        if (!strcmp(tables[i].name, name))
            return &tables[i];
    return NULL;
}
