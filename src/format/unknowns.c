/* unknowns.c: see unknowns.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "unknowns.h"

#include <stdbool.h>
#include <string.h>

const char *const ml_unknown_names[ML_UNKNOWN_COUNT] = {
    "addresses",
    "frees",
    "times",
    "exact sizes",
    "order",
    "sizes of single allocations",
    "what was there before",
    "other allocations",
    "when some blocks were allocated",
    "allocations",
};

const char *ml_unknowns_text(unsigned bits, char buf[ML_UNKNOWN_TEXT_BYTES])
{
    size_t len = 0;

    for (int i = 0; i < ML_UNKNOWN_COUNT; i++) {
        size_t n = strlen(ml_unknown_names[i]);

        if (!(bits >> i & 1))
            continue;
        if (len)
            buf[len++] = ',';
        memcpy(buf + len, ml_unknown_names[i], n);
        len += n;
    }
    buf[len] = '\0';
    return buf;
}

static bool is_name(const char *known, const char *name, size_t len)
{
    return strlen(known) == len && memcmp(known, name, len) == 0;
}

static unsigned bit_of(const char *name, size_t len)
{
    for (int i = 0; i < ML_UNKNOWN_COUNT; i++)
        if (is_name(ml_unknown_names[i], name, len))
            return 1u << i;
    return is_name("when some blocks were born", name, len) ? ML_UNKNOWN_BIRTHS : 0; /* earlier */
}

unsigned ml_unknowns_parse(const char *text)
{
    unsigned bits = 0;

    while (text && *text) {
        size_t len = strcspn(text, ",");

        bits |= bit_of(text, len);
        text += len + (text[len] == ',');
    }
    return bits;
}
