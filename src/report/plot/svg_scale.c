/* svg_scale.c: see svg_scale.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "svg_scale.h"

#include <math.h>
#include <stdio.h>

struct unit {
    double size;
    const char *name;
};

/* 1, 2, 2.5 or 5 times a power of ten, at least `least`. */
static double round_step(double least)
{
    static const double factors[] = {1, 2, 2.5, 5, 10};
    double power = pow(10, floor(log10(least)));

    for (size_t i = 0; i < 5; i++)
        if (factors[i] * power >= least * (1 - 1e-9))
            return factors[i] * power;
    return 10 * power;
}

static int decimals_of(double step)
{
    int decimals = 0;

    while (decimals < 6 && fabs(step - round(step)) > 1e-6) {
        step *= 10;
        decimals++;
    }
    return decimals;
}

static struct ml_scale make_scale(double max, unsigned marks, const struct unit *unit)
{
    double step = round_step(max / unit->size / marks);

    return (struct ml_scale){
        .end = max,
        .step = step * unit->size,
        .unit = unit->size,
        .unit_name = unit->name,
        .decimals = decimals_of(step),
    };
}

struct ml_scale ml_scale_bytes(uint64_t max, unsigned marks, enum ml_unit unit)
{
    static const struct unit units[] = {
        {1, "B"}, {1024, "KiB"}, {1048576, "MiB"}, {1073741824, "GiB"}, {1099511627776.0, "TiB"}};
    double top = max > 0 ? (double)max : 1;
    struct ml_scale scale;
    size_t i = 0;

    while (i + 1 < 5 && top >= units[i + 1].size)
        i++;
    if (unit != ML_UNIT_AUTO)
        i = (size_t)unit - ML_UNIT_B;
    scale = make_scale(top, marks, &units[i]);
    if (i == 0 && scale.step < 1) {
        scale.step = 1; /* no parts of bytes */
        scale.decimals = 0;
    }
    return scale;
}

struct ml_scale ml_scale_signed_bytes(int64_t min, int64_t max, unsigned marks, enum ml_unit unit)
{
    uint64_t above = max > 0 ? (uint64_t)max : 0, below = min < 0 ? -(uint64_t)min : 0;
    struct ml_scale scale = ml_scale_bytes(above + below, marks, unit);

    scale.begin = -(double)below;
    scale.end += scale.begin;
    return scale;
}

struct ml_scale ml_scale_time(uint64_t max_ns, unsigned marks)
{
    static const struct unit units[] = {{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}};
    static const struct unit minutes = {60e9, "min"}, hours = {3600e9, "h"};
    double end = max_ns > 0 ? (double)max_ns : 1;
    size_t i = 0;

    if (end >= 4 * hours.size)
        return make_scale(end, marks, &hours);
    if (end >= 10 * minutes.size)
        return make_scale(end, marks, &minutes);
    while (i + 1 < 4 && end >= units[i + 1].size)
        i++;
    return make_scale(end, marks, &units[i]);
}

struct ml_scale ml_scale_count(uint64_t max, unsigned marks)
{
    static const struct unit one = {1, ""};
    struct ml_scale scale = make_scale(max > 0 ? (double)max : 1, marks, &one);

    if (scale.step < 1)
        scale.step = 1;
    scale.decimals = 0;
    return scale;
}

const char *ml_scale_number(const struct ml_scale *scale, double value, char buf[32])
{
    snprintf(buf, 32, "%.*f", scale->decimals, value / scale->unit);
    return buf;
}
