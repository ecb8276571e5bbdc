/* instant_words.c: the words of --at.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "instant.h"
#include "text.h"

/* A whole number. @return the text after it, NULL: there is none */
static const char *number(const char *text, uint64_t *ret)
{
    char *end;

    if (*text < '0' || *text > '9')
        return NULL;
    errno = 0;
    *ret = strtoull(text, &end, 10);
    return errno ? NULL : end;
}

static bool parse_oom(const char *rest, struct ml_at *ret)
{
    *ret = (struct ml_at){.kind = ML_AT_OOM, .number = 1};
    if (*rest == '\0')
        return true;
    rest = *rest == ':' || *rest == ' ' ? number(rest + 1, &ret->number) : NULL;
    return rest && *rest == '\0' && ret->number > 0;
}

static bool parse_step(const char *rest, struct ml_at *ret)
{
    *ret = (struct ml_at){.kind = ML_AT_STEP};
    rest = *rest == ':' || *rest == ' ' ? number(rest + 1, &ret->number) : NULL;
    if (!rest)
        return false;
    if (strcmp(rest, ":end") == 0 || strcmp(rest, " end") == 0) {
        ret->kind = ML_AT_STEP_END;
        return true;
    }
    return *rest == '\0' || strcmp(rest, ":peak") == 0;
}

bool ml_at_parse(const char *text, struct ml_at *ret)
{
    *ret = (struct ml_at){.kind = ML_AT_PEAK};
    if (!text || strcmp(text, "peak") == 0)
        return true;
    if (strncmp(text, "oom", 3) == 0)
        return parse_oom(text + 3, ret);
    if (strncmp(text, "step", 4) == 0)
        return parse_step(text + 4, ret);
    ret->kind = strcmp(text, "end") == 0 ? ML_AT_END : ML_AT_TIME;
    return ret->kind == ML_AT_END || ml_parse_duration_ns(text, &ret->time_ns) == 0;
}

const char *ml_at_name(enum ml_at_kind kind)
{
    static const char *const names[] = {
        [ML_AT_PEAK] = "peak", [ML_AT_END] = "end",   [ML_AT_TIME] = "time",
        [ML_AT_OOM] = "oom",   [ML_AT_STEP] = "step", [ML_AT_STEP_END] = "step_end",
    };

    return names[kind];
}
