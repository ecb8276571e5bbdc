/* kernel_im2col.cu: the nine shifted copies of each channel, and the matrix
 * product over them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
KERNEL kernel_unfold(struct kernel_unfold_args args)
{
    unsigned i = thread_index();
    unsigned size = args.size;
    unsigned long row = i / (size * size);
    unsigned long channel = row / 9;
    unsigned tap = row % 9;
    /* A pixel above or left of the image wraps around to a number too large. */
    unsigned x = i % size + tap % 3 - 1, y = i / size % size + tap / 3 - 1;

    if (i < args.count)
        args.col[i] = x < size && y < size ? args.from[(channel * size + y) * size + x] : 0;
}

KERNEL kernel_gemm(struct kernel_gemm_args args)
{
    unsigned i = thread_index();
    unsigned step = args.cols / KERNEL_FILTERS;
    unsigned long row = i / step * KERNEL_FILTERS;
    const float *a = args.a + row * args.depth;
    const float *b = args.b + i % step;
    float *c = args.c + row * args.cols + i % step;
    float sum[KERNEL_FILTERS][KERNEL_FILTERS] = {{0}};

    if (i >= args.count)
        return;
    for (unsigned k = 0; k < args.depth; k++, b += args.cols)
        for (unsigned r = 0; r < KERNEL_FILTERS; r++)
            for (unsigned s = 0; s < KERNEL_FILTERS; s++)
                sum[r][s] += a[(unsigned long)r * args.depth + k] * b[s * step];
    for (unsigned r = 0; r < KERNEL_FILTERS; r++)
        for (unsigned s = 0; s < KERNEL_FILTERS; s++)
            c[(unsigned long)r * args.cols + s * step] = sum[r][s];
}
