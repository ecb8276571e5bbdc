/* piece.c: see piece.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "piece.h"

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

struct ml_piece ml_piece_trim(struct ml_piece p)
{
    while (p.len > 0 && is_blank(p.text[0])) {
        p.text++;
        p.len--;
    }
    while (p.len > 0 && is_blank(p.text[p.len - 1]))
        p.len--;
    return p;
}

bool ml_piece_is(struct ml_piece p, const char *text)
{
    return strlen(text) == p.len && memcmp(p.text, text, p.len) == 0;
}

bool ml_piece_begins(struct ml_piece p, const char *text)
{
    size_t len = strlen(text);

    return p.len >= len && memcmp(p.text, text, len) == 0;
}

/* Ends the piece in front of `at`, which is a separator or the end of the line. */
static struct ml_piece cut(struct ml_piece *rest, size_t at)
{
    struct ml_piece piece = {rest->text, at};

    if (at == rest->len) {
        *rest = (struct ml_piece){NULL, 0};
    } else {
        rest->text += at + 1;
        rest->len -= at + 1;
    }
    return piece;
}

bool ml_piece_next(struct ml_piece *rest, char separator, struct ml_piece *ret)
{
    const char *end;

    if (!rest->text)
        return false;
    end = rest->len ? memchr(rest->text, separator, rest->len) : NULL;
    *ret = ml_piece_trim(cut(rest, end ? (size_t)(end - rest->text) : rest->len));
    return true;
}

bool ml_piece_next_quoted(struct ml_piece *rest, char separator, struct ml_piece *ret)
{
    size_t at = 1;
    struct ml_piece piece;

    if (!rest->text || rest->len < 2 || rest->text[0] != '"')
        return ml_piece_next(rest, separator, ret);
    while (at < rest->len &&
           (rest->text[at] != '"' || (at + 1 < rest->len && rest->text[at + 1] == '"')))
        at += rest->text[at] == '"' ? 2 : 1;
    if (at + 1 < rest->len && rest->text[at + 1] != separator)
        return ml_piece_next(rest, separator, ret); /* it only begins with a quote */
    if (at >= rest->len)
        return ml_piece_next(rest, separator, ret);
    piece = cut(rest, at + 1);
    *ret = (struct ml_piece){piece.text + 1, piece.len - 2};
    return true;
}

bool ml_piece_take_u64(struct ml_piece *p, uint64_t *ret)
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

bool ml_piece_u64(struct ml_piece p, uint64_t *ret)
{
    uint64_t value;

    if (!ml_piece_take_u64(&p, &value) || p.len > 0)
        return false;
    *ret = value;
    return true;
}

/* strtod takes the locale's decimal sign; the command never sets a locale. */
bool ml_piece_double(struct ml_piece p, double *ret)
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
