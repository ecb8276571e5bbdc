/* slice.c: see slice.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "slice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

struct ml_slice ml_slice_trim(struct ml_slice p)
{
    while (p.len > 0 && is_blank(p.text[0])) {
        p.text++;
        p.len--;
    }
    while (p.len > 0 && is_blank(p.text[p.len - 1]))
        p.len--;
    return p;
}

bool ml_slice_is(struct ml_slice p, const char *text)
{
    return strlen(text) == p.len && memcmp(p.text, text, p.len) == 0;
}

bool ml_slice_begins(struct ml_slice p, const char *text)
{
    size_t len = strlen(text);

    return p.len >= len && memcmp(p.text, text, len) == 0;
}

/* Cuts the slice before `at`, which is a separator or the end of the line. */
static struct ml_slice cut(struct ml_slice *rest, size_t at)
{
    struct ml_slice slice = {rest->text, at};

    if (at == rest->len) {
        *rest = (struct ml_slice){NULL, 0};
    } else {
        rest->text += at + 1;
        rest->len -= at + 1;
    }
    return slice;
}

bool ml_slice_next(struct ml_slice *rest, char separator, struct ml_slice *ret)
{
    const char *end;

    if (!rest->text)
        return false;
    end = rest->len ? memchr(rest->text, separator, rest->len) : NULL;
    *ret = ml_slice_trim(cut(rest, end ? (size_t)(end - rest->text) : rest->len));
    return true;
}

bool ml_slice_next_quoted(struct ml_slice *rest, char separator, struct ml_slice *ret)
{
    size_t at = 1;
    struct ml_slice slice;

    if (!rest->text || rest->len < 2 || rest->text[0] != '"')
        return ml_slice_next(rest, separator, ret);
    while (at < rest->len &&
           (rest->text[at] != '"' || (at + 1 < rest->len && rest->text[at + 1] == '"')))
        at += rest->text[at] == '"' ? 2 : 1;
    if (at + 1 < rest->len && rest->text[at + 1] != separator)
        return ml_slice_next(rest, separator, ret); /* it only begins with a quote */
    if (at >= rest->len)
        return ml_slice_next(rest, separator, ret);
    slice = cut(rest, at + 1);
    *ret = (struct ml_slice){slice.text + 1, slice.len - 2};
    return true;
}

bool ml_slice_take_u64(struct ml_slice *p, uint64_t *ret)
{
    uint64_t value = 0;
    size_t at = 0;

    for (; at < p->len && is_digit(p->text[at]); at++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(p->text[at] - '0'), &value))
            return false;
    if (at == 0)
        return false;
    p->text += at;
    p->len -= at;
    *ret = value;
    return true;
}

bool ml_slice_u64(struct ml_slice p, uint64_t *ret)
{
    uint64_t value;

    if (!ml_slice_take_u64(&p, &value) || p.len > 0)
        return false;
    *ret = value;
    return true;
}

/* strtod takes the locale's decimal sign; the command never sets a locale. */
bool ml_slice_double(struct ml_slice p, double *ret)
{
    char text[64], *end;
    double value;

    if (p.len == 0 || p.len >= sizeof(text))
        return false;
    for (size_t i = 0; i < p.len; i++)
        if (!is_digit(p.text[i]) && !strchr("+-.eE", p.text[i]))
            return false;
    memcpy(text, p.text, p.len);
    text[p.len] = '\0';
    value = strtod(text, &end);
    if (*end || !isfinite(value))
        return false;
    *ret = value;
    return true;
}
