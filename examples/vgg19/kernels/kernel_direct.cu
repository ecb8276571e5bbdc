/* kernel_direct.cu: the border of zeros, and the convolution by its definition.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
KERNEL kernel_pad(struct kernel_pad_args args)
{
    unsigned i = thread_index();
    unsigned padded = args.size + 2;
    unsigned x = i % padded, y = i / padded % padded;
    unsigned long channel = i / (padded * padded);

    if (i >= args.count)
        return;
    /* Row and column 0 wrap around to numbers that are too large. */
    args.to[i] = x - 1 < args.size && y - 1 < args.size
                     ? args.from[(channel * args.size + y - 1) * args.size + x - 1]
                     : 0;
}

KERNEL kernel_direct(struct kernel_direct_args args)
{
    unsigned i = thread_index();
    unsigned size = args.shape.size, padded = size + 2;
    unsigned x = i % size, y = i / size % size;
    unsigned long first = i / (size * size) * KERNEL_FILTERS;
    unsigned long filter = (unsigned long)args.shape.in * 9;
    const float *window = args.padded + y * padded + x;
    const float *weight = args.weight + first * filter;
    float sum[KERNEL_FILTERS] = {0};

    if (i >= args.count)
        return;
    for (unsigned c = 0; c < args.shape.in; c++, window += padded * padded, weight += 9)
        for (unsigned tap = 0; tap < 9; tap++) {
            float value = window[tap / 3 * padded + tap % 3];

            for (unsigned f = 0; f < KERNEL_FILTERS; f++)
                sum[f] += value * weight[f * filter + tap];
        }
    for (unsigned f = 0; f < KERNEL_FILTERS; f++)
        args.to[((first + f) * size + y) * size + x] = sum[f];
}
