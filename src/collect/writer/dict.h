/* dict.h: the trace's definitions while it is being written.
 *
 * Numbers the strings, processes, threads, spaces, scopes, objects, libraries, frames
 * and stacks of the file, remembers them, and collects the definition records that
 * the writer has to put before the next events.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_DICT_H
#define ML_DICT_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "defs.h"
#include "intern.h"
#include "pairs.h"
#include "vec.h"

/* These are keys and compared byte by byte: no padding. */
struct ml_dict_scope {
    uint32_t parent;
    uint32_t kind;
    uint32_t name;
    uint32_t class_name; /* 0: none */
};
static_assert(sizeof(struct ml_dict_scope) == 16, "a key");

/* Where and what as in enum ml_frame_field. */
struct ml_dict_frame {
    uint64_t where;
    uint64_t what;
    uint32_t kind; /* enum ml_frame_kind */
    uint32_t line;
};
static_assert(sizeof(struct ml_dict_frame) == 24, "a key");

struct ml_dict {
    struct ml_intern strings; /* number 0 is "" */
    struct ml_intern scopes;  /* of struct ml_dict_scope; number + 1 is the scope's */
    struct ml_intern frames;  /* of struct ml_dict_frame */
    struct ml_pairs stacks;   /* of (caller, frame); number + 1 is the stack's */
    ML_VEC(struct ml_def) by_tag[ML_DEF_TAGS];
    struct ml_buf records; /* definitions not yet written */
    uint32_t record_count;
    uint32_t id_max; /* numbers of each sort: ML_ID_MAX */
    uint64_t unkept; /* definitions that there was no room for, each use counted */
    int error;       /* the last failure: -ENOMEM, -EOVERFLOW */
};

int ml_dict_init(struct ml_dict *d);
void ml_dict_release(struct ml_dict *d);

/* The number of a string, a new one at its first use; that of ML_OTHER_NAMES if it
 * cannot be kept. */
uint32_t ml_dict_string(struct ml_dict *d, const char *bytes, size_t len);
uint32_t ml_dict_cstr(struct ml_dict *d, const char *text);

/* NUL-terminated; "?" for an unknown number. */
const char *ml_dict_text(const struct ml_dict *d, uint32_t string);

/* Adds a process, thread, space, object or library; fields as in defs.h. Returns its
 * number, or 0 when memory or numbers run out (see d->unkept). */
uint32_t ml_dict_add(struct ml_dict *d, enum ml_def_tag tag, const uint64_t fields[ML_DEF_FIELDS]);

/* NULL for an unknown number. Valid until the next ml_dict_add. */
const struct ml_def *ml_dict_get(const struct ml_dict *d, enum ml_def_tag tag, uint32_t id);

/* The number of a scope, a new one at its first use. A scope that cannot be kept becomes
 * ML_OTHER_NAMES below the same parent, or else the parent. */
uint32_t ml_dict_scope(struct ml_dict *d, const struct ml_dict_scope *scope);

/* All 0 for an unknown number. */
struct ml_dict_scope ml_dict_scope_at(const struct ml_dict *d, uint32_t scope);
uint32_t ml_dict_scope_parent(const struct ml_dict *d, uint32_t scope);

/* The number of a frame, a new one at its first use; -1 if it cannot be kept. */
int64_t ml_dict_frame(struct ml_dict *d, const struct ml_dict_frame *frame);

/* The stack whose innermost frame has this number, called from stack `caller`; a
 * new one at its first use. `caller` if it cannot be kept, or the frame is -1. */
uint32_t ml_dict_stack(struct ml_dict *d, uint32_t caller, int64_t frame);

/* A stack without its innermost frame, and that frame. @return false for an unknown number, and for
 * 0, the empty stack */
bool ml_dict_stack_at(const struct ml_dict *d, uint32_t stack, uint32_t *ret_caller,
                      uint32_t *ret_frame);

/* The number of frames, and one by its number. */
uint32_t ml_dict_frames(const struct ml_dict *d);
struct ml_dict_frame ml_dict_frame_at(const struct ml_dict *d, uint32_t frame);

/* Sets the function of a frame, and its source line; file 0, line 0: unknown. */
void ml_dict_symbol(struct ml_dict *d, uint32_t frame, uint32_t function);
void ml_dict_source(struct ml_dict *d, uint32_t frame, uint32_t function, uint32_t file,
                    uint32_t line);

/* Says what a thread or a process, which are defined, is called from now on: its name, its role. */
void ml_dict_thread_name(struct ml_dict *d, uint32_t thread, const char *name);
void ml_dict_process_role(struct ml_dict *d, uint32_t process, const char *role);
/* Says where a process, which is defined, is in a distributed job: "rank=3 world_size=8". */
void ml_dict_process_place(struct ml_dict *d, uint32_t process, const char *place);

/* A setting of the run. */
void ml_dict_config(struct ml_dict *d, const char *key, const char *value);

#endif
