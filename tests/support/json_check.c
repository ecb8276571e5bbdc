/* json_check.c: a recursive-descent recogniser for RFC 8259.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "json_check.h"

#include <stdbool.h>
#include <string.h>

#include "utf8.h"

#define DEPTH_MAX 100

struct text {
    const char *at, *end;
    int depth;
};

static bool value(struct text *t);

static void blanks(struct text *t)
{
    while (t->at < t->end && strchr(" \t\r\n", *t->at) && *t->at)
        t->at++;
}

static bool take(struct text *t, char c)
{
    if (t->at == t->end || *t->at != c)
        return false;
    t->at++;
    return true;
}

static bool word(struct text *t, const char *w)
{
    size_t len = strlen(w);

    if ((size_t)(t->end - t->at) < len || memcmp(t->at, w, len) != 0)
        return false;
    t->at += len;
    return true;
}

static bool escape(struct text *t)
{
    if (t->at == t->end)
        return false;
    if (*t->at != 'u')
        return *t->at && strchr("\"\\/bfnrt", *t->at) ? (t->at++, true) : false;
    t->at++;
    for (int i = 0; i < 4; i++, t->at++) {
        if (t->at == t->end || !*t->at || !strchr("0123456789abcdefABCDEF", *t->at))
            return false;
    }
    return true;
}

static bool string(struct text *t)
{
    if (!take(t, '"'))
        return false;
    while (t->at < t->end && *t->at != '"') {
        unsigned char c = (unsigned char)*t->at;
        uint32_t codepoint;
        size_t n = 1;

        if (c < 0x20)
            return false;
        if (c >= 0x80)
            n = ml_utf8_decode(t->at, (size_t)(t->end - t->at), &codepoint);
        if (n == 0)
            return false;
        t->at += n;
        if (c == '\\' && !escape(t))
            return false;
    }
    return take(t, '"');
}

static bool digits(struct text *t)
{
    const char *start = t->at;

    while (t->at < t->end && *t->at >= '0' && *t->at <= '9')
        t->at++;
    return t->at > start;
}

static bool number(struct text *t)
{
    take(t, '-');
    if (!take(t, '0') && !digits(t))
        return false;
    if (take(t, '.') && !digits(t))
        return false;
    if (take(t, 'e') || take(t, 'E')) {
        if (!take(t, '+'))
            take(t, '-');
        return digits(t);
    }
    return true;
}

static bool member(struct text *t)
{
    blanks(t);
    if (!string(t))
        return false;
    blanks(t);
    return take(t, ':') && value(t);
}

static bool list(struct text *t, char close, bool (*item)(struct text *))
{
    bool good = false;

    t->at++;
    if (++t->depth > DEPTH_MAX)
        return false;
    blanks(t);
    if (take(t, close)) {
        good = true;
    } else {
        do {
            good = item(t);
            blanks(t);
        } while (good && take(t, ','));
        good = good && take(t, close);
    }
    t->depth--;
    return good;
}

static bool value(struct text *t)
{
    blanks(t);
    if (t->at == t->end)
        return false;
    switch (*t->at) {
    case '{': return list(t, '}', member);
    case '[': return list(t, ']', value);
    case '"': return string(t);
    case 't': return word(t, "true");
    case 'f': return word(t, "false");
    case 'n': return word(t, "null");
    default: return number(t);
    }
}

const char *json_error(const char *text, size_t len)
{
    struct text t = {text, text + len, 0};

    if (!value(&t))
        return t.at;
    blanks(&t);
    return t.at == t.end ? NULL : t.at;
}
