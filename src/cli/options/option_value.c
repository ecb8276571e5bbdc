/* option_value.c: see option_value.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "option_value.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "text.h"

static int set_flag(bool *field, const char *shown, const char *text, struct ml_error *err)
{
    static const char *const yes[] = {"1", "yes", "true", "on"};
    static const char *const no[] = {"0", "no", "false", "off"};

    for (size_t i = 0; text && i < ML_ARRAY_SIZE(no); i++)
        if (strcasecmp(text, no[i]) == 0) {
            *field = false;
            return 0;
        }
    for (size_t i = 0; text && i < ML_ARRAY_SIZE(yes); i++)
        if (strcasecmp(text, yes[i]) == 0)
            text = NULL;
    if (text)
        return ml_error_set(err, -EINVAL, "%s: '%s' is neither 1 nor 0", shown, text);
    *field = true;
    return 0;
}

static int set_int(const struct ml_option *option, int64_t *field, const char *shown,
                   const char *text, struct ml_error *err)
{
    char *end;
    long long value;

    errno = 0;
    value = strtoll(text, &end, 10);
    if (end == text || *end || errno || value < option->min || value > option->max)
        return ml_error_set(err, -EINVAL,
                            "%s: '%s' is not a whole number from %" PRId64 " to %" PRId64, shown,
                            text, option->min, option->max);
    *field = value;
    return 0;
}

static int set_number(const struct ml_option *option, double *field, const char *shown,
                      const char *text, struct ml_error *err)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || *end || !isfinite(value) || value < (double)option->min ||
        value > (double)option->max)
        return ml_error_set(err, -EINVAL, "%s: '%s' is not a number from %" PRId64 " to %" PRId64,
                            shown, text, option->min, option->max);
    *field = value;
    return 0;
}

static int set_bytes(uint64_t *field, const char *shown, const char *text, struct ml_error *err)
{
    if (ml_parse_bytes(text, field) < 0)
        return ml_error_set(
            err, -EINVAL, "%s: '%s' is not a size; write it as 4096, 64KiB or 1.5GiB", shown, text);
    return 0;
}

static int set_duration(const struct ml_option *option, uint64_t *field, const char *shown,
                        const char *text, struct ml_error *err)
{
    if (ml_parse_duration_ns(text, field) < 0)
        return ml_error_set(
            err, -EINVAL, "%s: '%s' is not a time; write it as 30s, 1.5m, 2h or 20ms", shown, text);
    if (*field < (uint64_t)option->min)
        return ml_error_set(err, -EINVAL, "%s: '%s' is too short; write a time such as 30s", shown,
                            text);
    return 0;
}

size_t ml_choice_word(const char *choice)
{
    return strcspn(choice, "[:");
}

static int set_choice(const struct ml_option *option, void *opts, int *field, const char *shown,
                      const char *text, struct ml_error *err)
{
    char allowed[256] = "";
    size_t len = 0;

    for (int i = 0; option->choices[i]; i++) {
        const char *choice = option->choices[i];
        size_t word = ml_choice_word(choice);

        if (strncasecmp(text, choice, word) != 0 || (text[word] != '\0' && text[word] != ':') ||
            (text[word] == ':' && !choice[word]))
            continue;
        if (!text[word] && choice[word] == ':')
            return ml_error_set(err, -EINVAL, "%s: '%s' needs a size: %s", shown, text, choice);
        *field = i;
        return text[word] ? set_bytes((uint64_t *)(void *)((char *)opts + option->amount_offset),
                                      shown, text + word + 1, err)
                          : 0;
    }
    for (int i = 0; option->choices[i] && len < sizeof(allowed); i++)
        len += (size_t)snprintf(allowed + len, sizeof(allowed) - len, "%s%s", i ? ", " : "",
                                option->choices[i]);
    return ml_error_set(err, -EINVAL, "%s: '%s' is not one of: %s", shown, text, allowed);
}

/* Names the possible values too, if they are known. */
static int refuse_no_value(const struct ml_option *option, const char *shown, struct ml_error *err)
{
    char words[256] = "";
    size_t used = 0;

    for (size_t i = 0; option->word && option->word(i) && used < sizeof(words); i++)
        used += (size_t)snprintf(words + used, sizeof(words) - used, "%s%s", i ? ", " : "",
                                 option->word(i));
    if (!words[0])
        return ml_error_set(err, -EINVAL, "%s needs a value: %s", shown, option->value_name);
    return ml_error_set(err, -EINVAL, "%s needs a value: %s; there %s %s%s", shown,
                        option->value_name, strchr(words, ',') ? "are" : "is", words,
                        option->or_file ? ", or name a file" : "");
}

int ml_option_set(const struct ml_option *option, void *opts, const char *shown, const char *text,
                  struct ml_error *err)
{
    void *field = (char *)opts + option->offset;

    if (option->type == ML_OPT_FLAG)
        return set_flag(field, shown, text, err);
    if (!text && option->type == ML_OPT_OPTIONAL_CHOICE) {
        *(int *)field = 1;
        return 0;
    }
    if (!text)
        return refuse_no_value(option, shown, err);
    switch (option->type) {
    case ML_OPT_STRING: *(const char **)field = text; return 0;
    case ML_OPT_INT: return set_int(option, field, shown, text, err);
    case ML_OPT_NUMBER: return set_number(option, field, shown, text, err);
    case ML_OPT_BYTES: return set_bytes(field, shown, text, err);
    case ML_OPT_DURATION: return set_duration(option, field, shown, text, err);
    case ML_OPT_CHOICE:
    case ML_OPT_OPTIONAL_CHOICE: return set_choice(option, opts, field, shown, text, err);
    case ML_OPT_FLAG: break;
    }
    return ml_error_set(err, -EINVAL, "%s: an option of no known type", shown);
}
