/* kernel_fft.cu: the convolution as a product of spectra, in the buffers and layouts of
 * conv_fft.c: channels are the innermost dimension, so that neighbouring threads read
 * neighbouring values.
 *
 * It uses only one step of the fast transform, the symmetry that gives two outputs for one pass
 * over the inputs; the sums themselves are direct. The sides, 2^k + 2, have large prime
 * factors, and a GPU has the arithmetic.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Of 2 pi k / side; set before a transform. */
TABLE kernel_cosine[KERNEL_TWIDDLES];
TABLE kernel_sine[KERNEL_TWIDDLES];

HELPER unsigned fft_side(struct kernel_shape shape)
{
    return shape.size + 2;
}

HELPER unsigned fft_bins(struct kernel_shape shape)
{
    return fft_side(shape) / 2 + 1;
}

/* Filters are zero from the third row and column on. */
HELPER unsigned fft_points(struct kernel_shape shape, unsigned slot)
{
    return slot == shape.out ? fft_side(shape) : 3;
}

/* Floats between a spectrum's rows. */
HELPER unsigned long fft_stride(struct kernel_shape shape)
{
    return 2ul * fft_bins(shape) * shape.in;
}

/* Of each, `other` the filters [out][in][3][3] and `from` the image. */
KERNEL kernel_fft_pad(struct kernel_fft_args args)
{
    unsigned i = thread_index();
    unsigned in = args.shape.in, size = args.shape.size, side = fft_side(args.shape);
    unsigned c = i % in;
    unsigned x = i / in % side, y = i / in / side % side;
    unsigned long slot = i / in / side / side;
    float value = 0;

    if (i >= args.count)
        return;
    if (slot < args.shape.out) {
        if (x < 3 && y < 3)
            value = args.other[(slot * in + c) * 9 + y * 3 + x];
    } else if (x - 1 < size && y - 1 < size) {
        value = args.from[((unsigned long)c * size + y - 1) * size + x - 1];
    }
    args.to[i] = value;
}

KERNEL kernel_fft_rows(struct kernel_fft_args args)
{
    unsigned i = thread_index();
    unsigned in = args.shape.in, side = fft_side(args.shape), bins = fft_bins(args.shape);
    unsigned c = i % in, k = i / in % bins;
    unsigned long row = i / in / bins;
    unsigned points = fft_points(args.shape, row / side);
    const float *from = args.from + row * side * in + c;
    float *to = args.to + row * fft_stride(args.shape) + 2ul * k * in + c;
    float re = 0, im = 0;
    unsigned angle = 0;

    if (i >= args.count)
        return;
    if (row % side >= points)
        points = 0;
    for (unsigned x = 0; x < points; x++) {
        float value = from[(unsigned long)x * in];

        re += value * kernel_cosine[angle];
        im -= value * kernel_sine[angle];
        angle += k;
        angle = angle >= side ? angle - side : angle;
    }
    to[0] = re;
    to[in] = im;
}

/* With E and O the transforms of the even and of the odd points, output k is
 * E + w O and output k + side / 2 is E - w O, w = exp(-+ 2 pi i k / side). */
KERNEL kernel_fft_columns(struct kernel_fft_args args)
{
    unsigned i = thread_index();
    unsigned in = args.shape.in, side = fft_side(args.shape), bins = fft_bins(args.shape);
    unsigned half = side / 2;
    unsigned c = i % in, k = i / in % half;
    unsigned bin = i / in / half % bins;
    unsigned long slot = i / in / half / bins;
    unsigned points = args.direction > 0 ? fft_points(args.shape, slot) : side;
    unsigned long stride = fft_stride(args.shape);
    unsigned long offset = slot * side * stride + 2ul * bin * in + c;
    const float *from = args.from + offset;
    float *to = args.to + offset + k * stride;
    float even_re = 0, even_im = 0, odd_re = 0, odd_im = 0, turned_re, turned_im;
    float sign = args.direction, cosine, sine;
    unsigned angle = 0;

    if (i >= args.count)
        return;
    for (unsigned y = 0; y < points; y += 2, from += 2 * stride) {
        float a_re = from[0], a_im = from[in];
        float b_re = from[stride], b_im = from[stride + in];

        cosine = kernel_cosine[angle];
        sine = sign * kernel_sine[angle];
        even_re += a_re * cosine + a_im * sine;
        even_im += a_im * cosine - a_re * sine;
        odd_re += b_re * cosine + b_im * sine;
        odd_im += b_im * cosine - b_re * sine;
        angle += 2 * k;
        angle = angle >= side ? angle - side : angle;
    }
    cosine = kernel_cosine[k];
    sine = sign * kernel_sine[k];
    turned_re = odd_re * cosine + odd_im * sine;
    turned_im = odd_im * cosine - odd_re * sine;
    to[0] = even_re + turned_re;
    to[in] = even_im + turned_im;
    to[half * stride] = even_re - turned_re;
    to[half * stride + in] = even_im - turned_im;
}

/* image * conj(filter): a correlation, which is what layers call convolution. */
KERNEL kernel_fft_multiply(struct kernel_fft_args args)
{
    unsigned i = thread_index();
    unsigned in = args.shape.in;
    unsigned long at = i / in * (2ul * in) + i % in;
    unsigned long at_image = at % (fft_side(args.shape) * fft_stride(args.shape));
    float re, im, filter_re, filter_im;

    if (i >= args.count)
        return;
    re = args.other[at_image];
    im = args.other[at_image + in];
    filter_re = args.from[at];
    filter_im = args.from[at + in];
    args.to[at] = re * filter_re + im * filter_im;
    args.to[at + in] = im * filter_re - re * filter_im;
}

/* The bins left out are the conjugates of those kept, so that each but the
 * first and the last counts twice; value side - x differs from value x in the
 * sign of the sines only. */
KERNEL kernel_fft_rows_back(struct kernel_fft_args args)
{
    unsigned i = thread_index();
    unsigned in = args.shape.in, side = fft_side(args.shape), bins = fft_bins(args.shape);
    unsigned half = side / 2;
    unsigned c = i % in, x = i / in % bins;
    unsigned long row = i / in / bins;
    const float *from = args.from + row * fft_stride(args.shape) + c;
    float *to = args.to + row * side * in + c;
    float cosines = 0, sines = 0, ends;
    unsigned angle = x;

    if (i >= args.count)
        return;
    ends = from[0] + (x % 2 ? -1 : 1) * from[2ul * half * in];
    for (unsigned k = 1; k < half; k++) {
        from += 2 * in;
        cosines += from[0] * kernel_cosine[angle];
        sines += from[in] * kernel_sine[angle];
        angle += x;
        angle = angle >= side ? angle - side : angle;
    }
    to[(unsigned long)x * in] = ends + 2 * (cosines - sines);
    if (x > 0 && x < half)
        to[(unsigned long)(side - x) * in] = ends + 2 * (cosines + sines);
}

KERNEL kernel_fft_sum(struct kernel_fft_args args)
{
    unsigned i = thread_index();
    unsigned in = args.shape.in, size = args.shape.size, side = fft_side(args.shape);
    unsigned x = i % size, y = i / size % size;
    unsigned long slot = i / size / size;
    const float *from = args.from + ((slot * side + y) * side + x) * in;
    float sum = 0;

    if (i >= args.count)
        return;
    for (unsigned c = 0; c < in; c++)
        sum += from[c];
    args.to[i] = sum / (float)(side * side);
}
