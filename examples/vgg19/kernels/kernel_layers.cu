/* kernel_layers.cu: random numbers, bias and ReLU, poolings, fully connected
 * layers: layers.c and uniform.c, one output to a thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
HELPER float larger(float a, float b)
{
    return a > b ? a : b;
}

HELPER unsigned long mix_bits(unsigned long z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ul;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebul;
    return z ^ (z >> 31);
}

KERNEL kernel_fill(struct kernel_fill_args args)
{
    unsigned long pair = thread_index();
    unsigned long bits;

    if (pair >= args.count)
        return;
    bits = mix_bits(args.key + (pair + 1) * 0x9e3779b97f4a7c15ul);
    args.to[2 * pair] = args.scale * (float)(int)(unsigned)bits;
    if (2 * pair + 1 < args.numbers)
        args.to[2 * pair + 1] = args.scale * (float)(int)(unsigned)(bits >> 32);
}

KERNEL kernel_bias_relu(struct kernel_bias_relu_args args)
{
    unsigned i = thread_index();

    if (i < args.count)
        args.data[i] =
            larger(args.data[i] + (args.bias ? args.bias[i / args.plane % args.channels] : 0), 0);
}

KERNEL kernel_max_pool(struct kernel_pool_args args)
{
    unsigned i = thread_index();
    const float *upper;
    const float *lower;

    if (i >= args.count)
        return;
    /* Row i / side of all output rows is fed by two input rows. */
    upper = args.from + i / args.side * 2 * args.size + i % args.side * 2;
    lower = upper + args.size;
    args.to[i] = larger(larger(upper[0], upper[1]), larger(lower[0], lower[1]));
}

KERNEL kernel_adaptive_pool(struct kernel_pool_args args)
{
    unsigned i = thread_index();
    unsigned y = i / args.side % args.side, x = i % args.side;
    unsigned top = y * args.size / args.side, left = x * args.size / args.side;
    unsigned bottom = ((y + 1) * args.size + args.side - 1) / args.side;
    unsigned right = ((x + 1) * args.size + args.side - 1) / args.side;
    const float *plane = args.from + i / (args.side * args.side) * args.size * args.size;
    float sum = 0;

    if (i >= args.count)
        return;
    for (unsigned row = top; row < bottom; row++)
        for (unsigned column = left; column < right; column++)
            sum += plane[row * args.size + column];
    args.to[i] = sum / (float)((bottom - top) * (right - left));
}

/* Four sums, which are independent of each other and more accurate than one. */
KERNEL kernel_linear(struct kernel_linear_args args)
{
    unsigned i = thread_index();
    unsigned long row = i % args.out, image = i / args.out;
    const float *weight = args.weight + row * args.in;
    const float *from = args.from + image * args.in;
    float sum[4] = {0, 0, 0, 0};
    float result;

    if (i >= args.count)
        return;
    for (unsigned k = 0; k < args.in; k += 4)
        for (unsigned lane = 0; lane < 4; lane++)
            sum[lane] += weight[k + lane] * from[k + lane];
    result = (sum[0] + sum[1]) + (sum[2] + sum[3]) + args.bias[row];
    args.to[i] = args.relu ? larger(result, 0) : result;
}
