/* config_keys.h: the profiler's settings: the single table of keys, values and defaults.
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

enum ml_config_key {
    ML_CONFIG_PROFILE_ALL,
    ML_CONFIG_PROFILE_SYMBOLIC,
    ML_CONFIG_PROFILE_IMPERATIVE,
    ML_CONFIG_PROFILE_MEMORY,
    ML_CONFIG_PROFILE_API,
    ML_CONFIG_FILENAME,
    ML_CONFIG_GPU_MEMORY_PREFIX,
    ML_CONFIG_CONTINUOUS_DUMP,
    ML_CONFIG_DUMP_PERIOD,
    ML_CONFIG_AGGREGATE_STATS,
    ML_CONFIG_PROFILE_PROCESS,
    ML_CONFIG_KEYS,
};

enum ml_config_type {
    ML_CONFIG_BOOL,
    ML_CONFIG_TEXT,
    ML_CONFIG_SECONDS,
    ML_CONFIG_PROCESS,
    ML_CONFIG_TYPES,
};

struct ml_config_info {
    const char *name;
    enum ml_config_type type;
    const char *default_value;
};

/* Indexed by enum ml_config_key. */
extern const struct ml_config_info ml_config_keys[ML_CONFIG_KEYS];

/* Describes the values of a type, for an error message. Indexed by enum ml_config_type. */
extern const char *const ml_config_allowed[ML_CONFIG_TYPES];

/* All names, separated by ", ". */
extern const char ml_config_names[];

/* @return enum ml_config_key, or -1 when there is no such key */
int ml_config_find(const char *name);

/* The key closest to a mistyped `name`. @return enum ml_config_key, or -1 when none is close */
int ml_config_nearest(const char *name);

/* The value in its canonical spelling ("true" for "TRUE" and "1"). @return NULL when the key
 * cannot have this value */
const char *ml_config_check(enum ml_config_key key, const char *value);

#endif
