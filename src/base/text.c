/* text.c: see text.h.
 *
 * Integer arithmetic only: printf's %f and strtod depend on the locale.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "compiler.h"

#define TEXT_BYTES 32

#define NS_PER_US UINT64_C(1000)
#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S UINT64_C(1000000000)

/* |v|, right for INT64_MIN too. */
static uint64_t magnitude(int64_t v)
{
    return v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
}

/* "-12.3 ms" from 123 tenths; a number that rounds to 0 loses its sign. */
static const char *format_scaled(char *buf, bool negative, uint64_t v, unsigned decimals,
                                 const char *unit)
{
    static const unsigned powers[] = {1, 10, 100};
    const char *sign = negative && v > 0 ? "-" : "";
    uint64_t whole = v / powers[decimals];
    unsigned part = (unsigned)(v % powers[decimals]);

    if (decimals == 0)
        snprintf(buf, TEXT_BYTES, "%s%" PRIu64 " %s", sign, whole, unit);
    else
        snprintf(buf, TEXT_BYTES, "%s%" PRIu64 ".%0*u %s", sign, whole, (int)decimals, part, unit);
    return buf;
}

/* In the order of enum ml_unit, from ML_UNIT_B on. */
static const struct byte_unit {
    const char *name;
    unsigned shift;
    unsigned decimals;
    unsigned power; /* 10 to the decimals */
} byte_units[] = {
    {"B", 0, 0, 1},      {"KiB", 10, 1, 10},  {"MiB", 20, 1, 10},  {"GiB", 30, 2, 100},
    {"TiB", 40, 2, 100}, {"PiB", 50, 2, 100}, {"EiB", 60, 2, 100},
};

/* The digits to show, rounded to nearest, as one integer. */
static uint64_t in_unit(uint64_t bytes, const struct byte_unit *unit)
{
    ml_u128 half = ((ml_u128)1 << unit->shift) / 2;

    return (uint64_t)(((ml_u128)bytes * unit->power + half) >> unit->shift);
}

/* The unit that shows at least 1 and, after rounding, less than 1024. */
static const struct byte_unit *best_unit(uint64_t bytes)
{
    const struct byte_unit *unit = byte_units;
    const struct byte_unit *last = &byte_units[ML_ARRAY_SIZE(byte_units) - 1];

    while (unit < last && in_unit(bytes, unit) >= 1024 * (uint64_t)unit->power)
        unit++;
    return unit;
}

const char *ml_format_bytes(char buf[32], int64_t bytes, enum ml_unit unit)
{
    uint64_t size = magnitude(bytes);
    const struct byte_unit *u;

    u = unit == ML_UNIT_AUTO ? best_unit(size) : &byte_units[unit - ML_UNIT_B];
    return format_scaled(buf, bytes < 0, in_unit(size, u), u->decimals, u->name);
}

const char *ml_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

const char *ml_format_count(char buf[32], int64_t count)
{
    char digits[TEXT_BYTES];
    int len = snprintf(digits, sizeof(digits), "%" PRIu64, magnitude(count));
    char *at = buf;

    if (count < 0)
        *at++ = '-';
    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            *at++ = ',';
        *at++ = digits[i];
    }
    *at = '\0';
    return buf;
}

/* From a minute up: two whole numbers. */
static const char *format_long_duration(char *buf, bool negative, uint64_t ns)
{
    const char *sign = negative ? "-" : "";
    uint64_t seconds = (ns + NS_PER_S / 2) / NS_PER_S;
    uint64_t minutes = (ns + 30 * NS_PER_S) / (60 * NS_PER_S);

    if (seconds < 3600)
        snprintf(buf, TEXT_BYTES, "%s%u min %02u s", sign, (unsigned)seconds / 60,
                 (unsigned)seconds % 60);
    else
        snprintf(buf, TEXT_BYTES, "%s%" PRIu64 " h %02u min", sign, minutes / 60,
                 (unsigned)(minutes % 60));
    return buf;
}

const char *ml_format_duration_ns(char buf[32], int64_t ns)
{
    bool negative = ns < 0;
    uint64_t size = magnitude(ns);
    uint64_t us_tenths = (size + NS_PER_US / 20) / (NS_PER_US / 10);
    uint64_t ms_tenths = (size + NS_PER_MS / 20) / (NS_PER_MS / 10);
    uint64_t s_hundredths = (size + NS_PER_S / 200) / (NS_PER_S / 100);

    if (size < 1000)
        return format_scaled(buf, negative, size, 0, "ns");
    if (us_tenths < 10000)
        return format_scaled(buf, negative, us_tenths, 1, "us");
    if (ms_tenths < 10000)
        return format_scaled(buf, negative, ms_tenths, 1, "ms");
    if (s_hundredths < 6000)
        return format_scaled(buf, negative, s_hundredths, 2, "s");
    return format_long_duration(buf, negative, size);
}

static char ascii_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* strcasecmp without the locale. */
static bool same_word(const char *a, const char *b)
{
    while (*a && ascii_lower(*a) == ascii_lower(*b)) {
        a++;
        b++;
    }
    return *a == *b;
}

int ml_parse_unit(const char *text, enum ml_unit *ret)
{
    static const char *const names[] = {
        [ML_UNIT_AUTO] = "auto", [ML_UNIT_B] = "B",     [ML_UNIT_KIB] = "KiB",
        [ML_UNIT_MIB] = "MiB",   [ML_UNIT_GIB] = "GiB",
    };

    for (size_t i = 0; i < ML_ARRAY_SIZE(names); i++) {
        if (same_word(text, names[i])) {
            *ret = (enum ml_unit)i;
            return 0;
        }
    }
    return -EINVAL;
}

/* whole + fraction / scale */
struct decimal {
    uint64_t whole, fraction, scale;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int parse_whole(const char **text, uint64_t *ret)
{
    const char *at = *text;
    uint64_t v = 0;

    for (; is_digit(*at); at++) {
        unsigned digit = (unsigned)(*at - '0');

        if (v > (UINT64_MAX - digit) / 10)
            return -ERANGE;
        v = v * 10 + digit;
    }
    *text = at;
    *ret = v;
    return 0;
}

/* Digits beyond the 18th are read and ignored. */
static void parse_fraction(const char **text, struct decimal *ret)
{
    const char *at = *text;

    for (; is_digit(*at); at++) {
        if (ret->scale < UINT64_C(1000000000000000000)) {
            ret->fraction = ret->fraction * 10 + (unsigned)(*at - '0');
            ret->scale *= 10;
        }
    }
    *text = at;
}

/* "12", "1.5", ".5"; advances *text past it. */
static int parse_decimal(const char **text, struct decimal *ret)
{
    bool has_whole = is_digit(**text);
    int r;

    *ret = (struct decimal){.scale = 1};
    r = parse_whole(text, &ret->whole);
    if (r < 0)
        return r;
    if (**text != '.')
        return has_whole ? 0 : -EINVAL;
    ++*text;
    if (!is_digit(**text))
        return -EINVAL;
    parse_fraction(text, ret);
    return 0;
}

struct suffix {
    const char *name;
    uint64_t factor;
};

static const struct suffix *find_suffix(const struct suffix *table, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (same_word(table[i].name, name))
            return &table[i];
    return NULL;
}

static int multiply(const struct decimal *d, uint64_t factor, uint64_t *ret)
{
    ml_u128 v = (ml_u128)d->whole * factor;

    if (factor == 1 && d->fraction != 0)
        return -EINVAL;
    v += ((ml_u128)d->fraction * factor + d->scale / 2) / d->scale;
    if (v > UINT64_MAX)
        return -ERANGE;
    *ret = (uint64_t)v;
    return 0;
}

/* A decimal number, at most one space, a suffix from the table. */
static int parse_with_suffix(const char *text, const struct suffix *table, size_t count,
                             uint64_t *ret)
{
    const struct suffix *suffix;
    struct decimal d;
    int r = parse_decimal(&text, &d);

    if (r < 0)
        return r;
    if (text[0] == ' ' && text[1] != '\0')
        text++;
    suffix = find_suffix(table, count, text);
    if (!suffix)
        return -EINVAL;
    return multiply(&d, suffix->factor, ret);
}

int ml_parse_bytes(const char *text, uint64_t *ret)
{
    static const struct suffix suffixes[] = {
        {"", 1},
        {"B", 1},
        {"KB", UINT64_C(1000)},
        {"MB", UINT64_C(1000000)},
        {"GB", UINT64_C(1000000000)},
        {"TB", UINT64_C(1000000000000)},
        {"K", UINT64_C(1) << 10},
        {"KiB", UINT64_C(1) << 10},
        {"M", UINT64_C(1) << 20},
        {"MiB", UINT64_C(1) << 20},
        {"G", UINT64_C(1) << 30},
        {"GiB", UINT64_C(1) << 30},
        {"T", UINT64_C(1) << 40},
        {"TiB", UINT64_C(1) << 40},
    };

    return parse_with_suffix(text, suffixes, ML_ARRAY_SIZE(suffixes), ret);
}

int ml_parse_duration_ns(const char *text, uint64_t *ret)
{
    static const struct suffix suffixes[] = {
        {"", NS_PER_S},           {"ns", 1},
        {"us", NS_PER_US},        {"\xc2\xb5s", NS_PER_US}, /* micro sign */
        {"\xce\xbcs", NS_PER_US},                           /* Greek mu */
        {"ms", NS_PER_MS},        {"s", NS_PER_S},
        {"m", 60 * NS_PER_S},     {"min", 60 * NS_PER_S},
        {"h", 3600 * NS_PER_S},
    };

    return parse_with_suffix(text, suffixes, ML_ARRAY_SIZE(suffixes), ret);
}
