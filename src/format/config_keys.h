/* config_keys.h: the settings of the profiler: the one table of keys, values
 * and defaults.
 *
 * The recorder checks a program's settings against it before anything is sent;
 * the collector takes its defaults from it. No malloc, no stdio, no locale:
 * usable inside the target and in a signal handler.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CONFIG_KEYS_H
#define ML_CONFIG_KEYS_H

#include <stdbool.h>

enum ml_key {
    ML_KEY_PROFILE_ALL,
    ML_KEY_PROFILE_SYMBOLIC,
    ML_KEY_PROFILE_IMPERATIVE,
    ML_KEY_PROFILE_MEMORY,
    ML_KEY_PROFILE_API,
    ML_KEY_FILENAME,
    ML_KEY_GPU_MEMORY_PREFIX,
    ML_KEY_CONTINUOUS_DUMP,
    ML_KEY_DUMP_PERIOD,
    ML_KEY_AGGREGATE_STATS,
    ML_KEY_PROFILE_PROCESS,
    ML_KEYS,
};

enum ml_key_type {
    ML_KEY_BOOL,
    ML_KEY_TEXT,
    ML_KEY_SECONDS,
    ML_KEY_PROCESS,
    ML_KEY_TYPES,
};

struct ml_key_info {
    const char *name;
    enum ml_key_type type;
    const char *default_value;
};

/* Indexed by enum ml_key. */
extern const struct ml_key_info ml_keys[ML_KEYS];

/* What values of a type look like, for an error message. Indexed by enum
 * ml_key_type. */
extern const char *const ml_key_allowed[ML_KEY_TYPES];

/* All names, separated by ", ". */
extern const char ml_key_names[];

/* @return enum ml_key, or -1 when there is no such key */
int ml_key_find(const char *name);

/* The key that somebody who mistyped `name` may have meant.
 * @return enum ml_key, or -1 when none comes close */
int ml_key_nearest(const char *name);

/* The value in its one spelling ("true" for "TRUE" and "1"), else the value
 * itself. @return NULL when the key cannot have this value */
const char *ml_key_check(enum ml_key key, const char *value);

#endif
