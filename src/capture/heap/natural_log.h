/* natural_log.h: a logarithm without the mathematics library, which a program need not have.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_NATURAL_LOG_H
#define ML_NATURAL_LOG_H

#include <stdint.h>
#include <string.h>

#define ML_LN_2 0.693147180559945309417

/* The natural logarithm, with an error below 1e-9. Precondition: x is a normal number above 0. */
static inline double ml_natural_log(double x)
{
    uint64_t bits;
    double mantissa, t, square, sum = 0;
    int exponent;

    memcpy(&bits, &x, sizeof(bits));
    exponent = (int)(bits >> 52) - 1023;
    bits = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1023) << 52;
    memcpy(&mantissa, &bits, sizeof(mantissa));
    /* ln m = 2 (t + t^3/3 + t^5/5 + …), where t is at most a third. */
    t = (mantissa - 1) / (mantissa + 1);
    square = t * t;
    for (int i = 17; i >= 1; i -= 2)
        sum = sum * square + 1.0 / i;
    return exponent * ML_LN_2 + 2 * t * sum;
}

#endif
