/* defs.h: definition records: strings, processes, threads, spaces, scopes,
 * objects and settings, which events refer to by number.
 *
 * One struct serves all tags: a number, then fields whose meaning the enums
 * below give. No memory is allocated.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_DEFS_H
#define ML_DEFS_H

#include <stddef.h>
#include <stdint.h>

enum ml_def_tag {
    ML_DEF_STRING = 1,
    ML_DEF_PROCESS = 2,
    ML_DEF_THREAD = 3,
    ML_DEF_SPACE = 4,
    ML_DEF_SCOPE = 5,
    ML_DEF_OBJECT = 6,
    ML_DEF_CONFIG = 7, /* its id is the key's string */
    ML_DEF_TAGS = 8,
};

#define ML_DEF_FIELDS 5

enum ml_process_field {
    ML_PROCESS_PID,
    ML_PROCESS_PARENT, /* + 1; 0: none */
    ML_PROCESS_HOW,
    ML_PROCESS_START_NS,
    ML_PROCESS_COMMAND,
};
enum ml_process_how { ML_STARTED = 1, ML_FORKED = 2, ML_EXECED = 3 };
enum ml_thread_field { ML_THREAD_PROCESS, ML_THREAD_TID, ML_THREAD_START_NS, ML_THREAD_NAME };
enum ml_space_field { ML_SPACE_PROCESS, ML_SPACE_DEVICE, ML_SPACE_LEVEL, ML_SPACE_NAME };
enum ml_scope_field { ML_SCOPE_PARENT, ML_SCOPE_KIND, ML_SCOPE_NAME };
enum ml_object_field {
    ML_OBJECT_PROCESS,
    ML_OBJECT_KIND,
    ML_OBJECT_DOMAIN, /* + 1; 0: none */
    ML_OBJECT_NAME,
};
enum ml_config_field { ML_CONFIG_VALUE };

struct ml_def {
    uint8_t tag;
    uint32_t id;
    uint64_t fields[ML_DEF_FIELDS];
    const char *bytes; /* a string's; not NUL-terminated, inside the block */
    uint32_t len;
};

/* Most that ml_def_put writes for this record. */
size_t ml_def_room(const struct ml_def *def);

/* Writes one record and returns the byte after it. */
uint8_t *ml_def_put(uint8_t *out, const struct ml_def *def);

/* Reads one record and returns the byte after it, NULL if it is damaged. A tag
 * that is not known here comes back as it is, with nothing else set. */
const uint8_t *ml_def_get(const uint8_t *in, const uint8_t *end, struct ml_def *ret);

#endif
