/* suppressions.c: see suppressions.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "suppressions.h"

#include <errno.h>
#include <string.h>

#define PREFIX "leak:"
#define BLANKS " \t\r"

/* ---- Reading -------------------------------------------------------------- */

static int add_line(struct ml_suppressions *s, const char *name, size_t number, const char *line,
                    size_t len, struct ml_error *err)
{
    const char *pattern;

    while (len > 0 && strchr(BLANKS, *line)) {
        line++;
        len--;
    }
    while (len > 0 && strchr(BLANKS, line[len - 1]))
        len--;
    if (len == 0 || *line == '#')
        return 0;
    if (len <= strlen(PREFIX) || strncmp(line, PREFIX, strlen(PREFIX)) != 0)
        return ml_error_set(err, -EINVAL, "%s:%zu: '%.*s' is not a suppression; write leak:PATTERN",
                            name, number, (int)(len < 80 ? len : 80), line);
    pattern = ml_arena_dup(&s->arena, line + strlen(PREFIX), len - strlen(PREFIX));
    return pattern ? ml_vec_push(&s->patterns, pattern) : -ENOMEM;
}

int ml_suppressions_parse(struct ml_suppressions *suppressions, const char *name, const char *text,
                          struct ml_error *err)
{
    size_t number = 1;
    int r = 0;

    while (r == 0 && *text) {
        size_t len = strcspn(text, "\n");

        r = add_line(suppressions, name, number++, text, len, err);
        text += len + (text[len] == '\n');
    }
    return r;
}

void ml_suppressions_release(struct ml_suppressions *suppressions)
{
    ml_vec_release(&suppressions->patterns);
    ml_arena_release(&suppressions->arena);
}

/* ---- Matching ------------------------------------------------------------- */

/* The first place of `part` in the text. */
static const char *find(const char *text, const char *part, size_t len)
{
    for (; *text; text++)
        if (strncmp(text, part, len) == 0)
            return text;
    return NULL;
}

bool ml_suppression_matches(const char *pattern, const char *text)
{
    bool at_start = *pattern == '^', any = false;

    if (*text == '\0')
        return false;
    pattern += at_start;
    while (*pattern) {
        size_t len = strcspn(pattern, "*$");
        const char *found;

        if (*pattern == '*') {
            pattern++;
            at_start = false;
            any = true;
            continue;
        }
        if (*pattern == '$')
            return *text == '\0' || any;
        found = find(text, pattern, len);
        if (!found || (at_start && found != text))
            return false;
        text = found + len;
        pattern += len;
        at_start = any = false;
    }
    return true;
}

static bool matches_string(const struct ml_suppressions *s, const struct ml_trace *trace,
                           uint32_t string)
{
    const char *text = string ? ml_trace_string(trace, string, NULL) : "";

    for (size_t i = 0; i < s->patterns.len; i++)
        if (ml_suppression_matches(s->patterns.items[i], text))
            return true;
    return false;
}

bool ml_suppressions_match(const struct ml_suppressions *suppressions, const struct ml_trace *trace,
                           uint32_t stack)
{
    for (; stack; stack = ml_trace_stack(trace, stack)->caller) {
        const struct ml_frame *frame = ml_trace_frame(trace, ml_trace_stack(trace, stack)->frame);

        if (matches_string(suppressions, trace, frame->function) ||
            matches_string(suppressions, trace, frame->file) ||
            (frame->library >= 0 &&
             matches_string(suppressions, trace,
                            ml_trace_library(trace, (uint32_t)frame->library)->path)))
            return true;
    }
    return false;
}
