/* config_keys.c: the table of settings and the checks of their values.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "config_keys.h"

#include <stddef.h>
#include <string.h>

#include "nearest.h"
#include "ring.h"

const struct ml_config_info ml_config_keys[ML_CONFIG_KEYS] = {
    [ML_CONFIG_PROFILE_ALL] = {"profile_all", ML_CONFIG_BOOL, "false"},
    [ML_CONFIG_PROFILE_SYMBOLIC] = {"profile_symbolic", ML_CONFIG_BOOL, "true"},
    [ML_CONFIG_PROFILE_IMPERATIVE] = {"profile_imperative", ML_CONFIG_BOOL, "true"},
    [ML_CONFIG_PROFILE_MEMORY] = {"profile_memory", ML_CONFIG_BOOL, "true"},
    [ML_CONFIG_PROFILE_API] = {"profile_api", ML_CONFIG_BOOL, "true"},
    [ML_CONFIG_FILENAME] = {"filename", ML_CONFIG_TEXT, "profile.json"},
    [ML_CONFIG_GPU_MEMORY_PREFIX] = {"gpu_memory_profile_filename_prefix", ML_CONFIG_TEXT,
                                     "gpu_memory_profile"},
    [ML_CONFIG_CONTINUOUS_DUMP] = {"continuous_dump", ML_CONFIG_BOOL, "true"},
    [ML_CONFIG_DUMP_PERIOD] = {"dump_period", ML_CONFIG_SECONDS, "1.0"},
    [ML_CONFIG_AGGREGATE_STATS] = {"aggregate_stats", ML_CONFIG_BOOL, "false"},
    [ML_CONFIG_PROFILE_PROCESS] = {"profile_process", ML_CONFIG_PROCESS, "worker"},
};

/* Repeats the names, because the recorder has no memory to join them in. A test compares the
 * two. */
const char ml_config_names[] =
    "profile_all, profile_symbolic, profile_imperative, profile_memory, profile_api, filename, "
    "gpu_memory_profile_filename_prefix, continuous_dump, dump_period, aggregate_stats, "
    "profile_process";

const char *const ml_config_allowed[ML_CONFIG_TYPES] = {
    [ML_CONFIG_BOOL] = "true, false, 1 or 0",
    [ML_CONFIG_TEXT] = "1 to 1023 bytes of text",
    [ML_CONFIG_SECONDS] = "a number of seconds above 0, like 0.5",
    [ML_CONFIG_PROCESS] = "worker or server",
};
static_assert(ML_NAME_MAX_BYTES == 1023, "said in ml_config_allowed");

int ml_config_find(const char *name)
{
    for (int i = 0; i < ML_CONFIG_KEYS; i++) {
        if (!strcmp(ml_config_keys[i].name, name))
            return i;
    }
    return -1;
}

int ml_config_nearest(const char *name)
{
    struct ml_nearest nearest = {.typed = name};
    int best = -1;

    if (strnlen(name, 3) < 3) /* too short to be distinctive */
        return -1;
    for (int i = 0; i < ML_CONFIG_KEYS; i++) {
        if (ml_nearest_offer(&nearest, ml_config_keys[i].name))
            best = i;
    }
    return best;
}

/* ---- Values ------------------------------------------------------------- */

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* strcasecmp depends on the locale. `word` is in lower case. */
static bool is_word(const char *value, const char *word)
{
    while (*word && lower(*value) == *word) {
        value++;
        word++;
    }
    return !*word && !*value;
}

static const char *check_bool(const char *value)
{
    if (is_word(value, "true") || is_word(value, "1"))
        return "true";
    if (is_word(value, "false") || is_word(value, "0"))
        return "false";
    return NULL;
}

static const char *skip_digits(const char *s, bool *ret_any, bool *ret_nonzero)
{
    for (; *s >= '0' && *s <= '9'; s++) {
        *ret_any = true;
        *ret_nonzero |= *s != '0';
    }
    return s;
}

/* Digits with an optional point and exponent; strtod would also accept "inf", hexadecimal
 * numbers and the locale's comma. */
static const char *check_seconds(const char *value)
{
    bool any = false, nonzero = false, exponent = false, ignored = false;
    const char *s = value + (*value == '+');

    s = skip_digits(s, &any, &nonzero);
    if (*s == '.')
        s = skip_digits(s + 1, &any, &nonzero);
    if (any && lower(*s) == 'e') {
        s++;
        s += *s == '+' || *s == '-';
        s = skip_digits(s, &exponent, &ignored);
        any = exponent;
    }
    return any && nonzero && !*s && s - value < 32 ? value : NULL;
}

static const char *check_text(const char *value)
{
    size_t len = strnlen(value, ML_NAME_MAX_BYTES + 1);

    return len && len <= ML_NAME_MAX_BYTES ? value : NULL;
}

const char *ml_config_check(enum ml_config_key key, const char *value)
{
    switch (ml_config_keys[key].type) {
    case ML_CONFIG_BOOL: return check_bool(value);
    case ML_CONFIG_SECONDS: return check_seconds(value);
    case ML_CONFIG_PROCESS:
        return !strcmp(value, "worker") || !strcmp(value, "server") ? value : NULL;
    default: return check_text(value);
    }
}
