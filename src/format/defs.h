/* defs.h: definition records: strings, processes, threads, spaces, scopes,
 * objects, settings, libraries and stacks, which events refer to by number.
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
    ML_DEF_LIBRARY = 8,
    ML_DEF_FRAME = 9,
    ML_DEF_STACK = 10,
    ML_DEF_SYMBOL = 11,        /* its id is the frame's */
    ML_DEF_THREAD_NAME = 12,   /* its id is the thread's; minor version 4, likewise the next */
    ML_DEF_PROCESS_ROLE = 13,  /* its id is the process's */
    ML_DEF_PROCESS_PLACE = 14, /* the same; minor version 5 */
    ML_DEF_TAGS = 15,
};

#define ML_DEF_FIELDS 6

enum ml_process_field {
    ML_PROCESS_PID,
    ML_PROCESS_PARENT, /* + 1; 0: none */
    ML_PROCESS_HOW,
    ML_PROCESS_START_NS,
    ML_PROCESS_COMMAND,
    ML_PROCESS_ROLE, /* its role among cooperating processes, 0: none; minor version 3 */
};
enum ml_process_how { ML_STARTED = 1, ML_FORKED = 2, ML_EXECED = 3 };
enum ml_thread_field { ML_THREAD_PROCESS, ML_THREAD_TID, ML_THREAD_START_NS, ML_THREAD_NAME };
enum ml_space_field {
    ML_SPACE_PROCESS,
    ML_SPACE_DEVICE,
    ML_SPACE_LEVEL,
    ML_SPACE_NAME,
    ML_SPACE_SAMPLED, /* bytes between two samples on average, 0: all blocks; minor version 6 */
    ML_SPACE_LEAST,   /* bytes of the smallest block that is recorded, 0: any; minor version 6 */
};
enum ml_scope_field {
    ML_SCOPE_PARENT,
    ML_SCOPE_KIND,
    ML_SCOPE_NAME,
    ML_SCOPE_CLASS, /* the module's class, 0: none; minor version 2 */
};
enum ml_object_field {
    ML_OBJECT_PROCESS,
    ML_OBJECT_KIND,
    ML_OBJECT_DOMAIN, /* + 1; 0: none */
    ML_OBJECT_NAME,
};
enum ml_config_field { ML_CONFIG_VALUE };
enum ml_library_field {
    ML_LIBRARY_PROCESS,
    ML_LIBRARY_BASE, /* addresses of the file are relative to it */
    ML_LIBRARY_END,
    ML_LIBRARY_PATH,
    ML_LIBRARY_BUILD_ID,
};
enum ml_frame_kind { ML_FRAME_NATIVE = 1, ML_FRAME_PYTHON = 2 };
enum ml_frame_field {
    ML_FRAME_KIND,
    ML_FRAME_WHERE, /* native: the library + 1, 0: unknown; Python: the function's name */
    ML_FRAME_WHAT,  /* native: address in the library, or in the process; Python: the file */
    ML_FRAME_LINE,  /* Python only */
};
enum ml_stack_field {
    ML_STACK_CALLER, /* the stack without its innermost frame, 0: none */
    ML_STACK_FRAME,  /* the innermost */
};
/* Names of a native frame, if found; may come after the frame's last use. */
enum ml_symbol_field { ML_SYMBOL_FUNCTION, ML_SYMBOL_FILE, ML_SYMBOL_LINE };

/* Of a thread name, a process role and a process place: replaces the one before. */
enum ml_given_field { ML_GIVEN_NAME };

struct ml_def {
    uint8_t tag;
    uint32_t id;
    uint64_t fields[ML_DEF_FIELDS];
    const char *bytes; /* a string's; not NUL-terminated, inside the block */
    uint32_t len;
};

/* The number of fields of a known tag. */
int ml_def_field_count(uint8_t tag);

/* The most bytes that ml_def_put writes for this record. */
size_t ml_def_room(const struct ml_def *def);

/* Writes one record and returns the byte after it. */
uint8_t *ml_def_put(uint8_t *out, const struct ml_def *def);

/* Reads one record and returns the byte after it, NULL if it is damaged. An unknown tag is
 * returned as it is, with nothing else set. */
const uint8_t *ml_def_get(const uint8_t *in, const uint8_t *end, struct ml_def *ret);

#endif
