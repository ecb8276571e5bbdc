/* kernel_winograd.cu: Winograd's F(2x2,3x3) with every product kept, as in
 * conv_winograd.c, which has the matrices.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Entry `row` of G times three values at a distance of `stride`. */
HELPER float spread_tap(unsigned row, const float *g, unsigned stride)
{
    if (row == 0)
        return g[0];
    if (row == 3)
        return g[2 * stride];
    return 0.5f * (g[0] + (row == 1 ? g[stride] : -g[stride]) + g[2 * stride]);
}

KERNEL kernel_winograd_filter(struct kernel_winograd_args args)
{
    unsigned i = thread_index();
    const float *g = args.weight + i * 9;
    float t[4][3];

    if (i >= args.count)
        return;
    for (unsigned row = 0; row < 4; row++)
        for (unsigned x = 0; x < 3; x++)
            t[row][x] = spread_tap(row, g + x, 3);
    for (unsigned point = 0; point < 16; point++)
        args.filter[i * 16 + point] = spread_tap(point % 4, t[point / 4], 1);
}

/* Each entry of B' times four values is a sum or difference of two of them:
 * d0 - d2, d1 + d2, d2 - d1, d1 - d3. */
struct window_pair {
    unsigned first, second;
    float sign;
};

HELPER struct window_pair pair_of(unsigned row)
{
    struct window_pair pair;

    pair.first = row == 0 ? 0 : row == 2 ? 2 : 1;
    pair.second = row == 2 ? 1 : row == 3 ? 3 : 2;
    pair.sign = row == 1 ? 1 : -1;
    return pair;
}

/* Entry `point` of V = B' d B: four values of the window. */
HELPER float window_point(const float *d, unsigned stride, unsigned point)
{
    struct window_pair y = pair_of(point / 4), x = pair_of(point % 4);
    const float *upper = d + y.first * stride;
    const float *lower = d + y.second * stride;

    return upper[x.first] + x.sign * upper[x.second] +
           y.sign * (lower[x.first] + x.sign * lower[x.second]);
}

/* Neighbouring threads take neighbouring products, and compute V again: reads that hit the
 * cache cost less than scattered writes. */
KERNEL kernel_winograd_multiply(struct kernel_winograd_args args)
{
    unsigned long i = thread_index();
    unsigned in = args.shape.in, stride = args.shape.size + 2, across = args.shape.size / 2;
    unsigned point = i % 16;
    unsigned rest = i / 16;
    unsigned channel = rest % in;
    unsigned filter = rest / in % args.shape.out;
    unsigned tile = rest / in / args.shape.out;
    const float *window = args.padded + (unsigned long)channel * stride * stride +
                          tile / across * 2 * stride + tile % across * 2;

    if (i < args.count)
        args.product[i] = args.filter[((unsigned long)filter * in + channel) * 16 + point] *
                          window_point(window, stride, point);
}

KERNEL kernel_winograd_sum(struct kernel_winograd_args args)
{
    unsigned i = thread_index();
    const float *product = args.product + i / 16 * (args.shape.in * 16ul) + i % 16;
    float sum = 0;

    if (i >= args.count)
        return;
    for (unsigned c = 0; c < args.shape.in; c++)
        sum += product[(unsigned long)c * 16];
    args.sum[i] = sum;
}

/* y = A' m A */
KERNEL kernel_winograd_finish(struct kernel_winograd_args args)
{
    unsigned i = thread_index();
    unsigned across = args.shape.size / 2;
    unsigned tile = i % (across * across);
    unsigned long filter = i / (across * across);
    const float *m = args.sum + ((unsigned long)tile * args.shape.out + filter) * 16;
    float *y = args.to + (filter * args.shape.size + tile / across * 2) * args.shape.size +
               tile % across * 2;
    float t[2][4];

    if (i >= args.count)
        return;
    for (unsigned x = 0; x < 4; x++) {
        t[0][x] = m[x] + m[4 + x] + m[8 + x];
        t[1][x] = m[4 + x] - m[8 + x] - m[12 + x];
    }
    for (unsigned row = 0; row < 2; row++) {
        y[row * args.shape.size] = t[row][0] + t[row][1] + t[row][2];
        y[row * args.shape.size + 1] = t[row][1] - t[row][2] - t[row][3];
    }
}
