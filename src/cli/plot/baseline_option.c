/* baseline_option.c: see baseline_option.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "baseline_option.h"

#include <strings.h>

#include "text.h"

/* No recorded size is larger. */
#define LARGEST_BYTES (UINT64_C(1) << 50)

static const struct {
    const char *word;
    enum ml_baseline_kind kind;
    const char *phrase;
} rows[] = {
    {"first", ML_BASELINE_FIRST, "the first value"},
    {"min", ML_BASELINE_MIN, "the lowest value"},
};

const char *ml_baseline_word(size_t i)
{
    return i < ML_ARRAY_SIZE(rows) ? rows[i].word : NULL;
}

int ml_baseline_parse(const struct ml_verb *verb, const char *text, struct ml_baseline *ret)
{
    *ret = (struct ml_baseline){.kind = ML_BASELINE_NONE};
    if (!text)
        return -1;
    for (size_t i = 0; i < ML_ARRAY_SIZE(rows); i++)
        if (strcasecmp(text, rows[i].word) == 0) {
            ret->kind = rows[i].kind;
            return -1;
        }
    ret->kind = ML_BASELINE_SIZE;
    if (ml_parse_bytes(text, &ret->size_bytes) == 0 && ret->size_bytes <= LARGEST_BYTES)
        return -1;
    return ml_verb_usage_error(verb, "--baseline: '%s' is neither first, min nor a size (230MiB)",
                               text);
}

const char *ml_baseline_words(const struct ml_baseline *baseline, struct ml_canvas *canvas)
{
    char size[32];

    for (size_t i = 0; i < ML_ARRAY_SIZE(rows); i++)
        if (baseline->kind == rows[i].kind)
            return rows[i].phrase;
    if (baseline->kind == ML_BASELINE_NONE)
        return NULL;
    return ml_canvas_printf(canvas, "%s",
                            ml_format_bytes(size, (int64_t)baseline->size_bytes, ML_UNIT_AUTO));
}
