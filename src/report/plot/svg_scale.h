/* svg_scale.h: axes with round numbers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_SVG_SCALE_H
#define ML_REPORT_SVG_SCALE_H

#include <stddef.h>
#include <stdint.h>

#include "text.h"

/* An axis from `begin`, 0 or less, to `end`, with a mark at each multiple of `step`; all in the
 * base unit (bytes, nanoseconds). */
struct ml_scale {
    double begin, end, step;
    double unit;           /* of the numbers shown, in base units */
    const char *unit_name; /* "MiB", "ms" */
    int decimals;
};

/* About `marks` of them, up to `max`. */
struct ml_scale ml_scale_bytes(uint64_t max, unsigned marks, enum ml_unit unit);
/* From `min`, if that is below 0; at least up to 0. */
struct ml_scale ml_scale_signed_bytes(int64_t min, int64_t max, unsigned marks, enum ml_unit unit);
struct ml_scale ml_scale_time(uint64_t max_ns, unsigned marks);
/* Whole numbers of things. */
struct ml_scale ml_scale_count(uint64_t max, unsigned marks);

/* The number at a mark, without its unit. @return buf */
const char *ml_scale_number(const struct ml_scale *scale, double value, char buf[32]);

#endif
