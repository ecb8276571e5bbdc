/* dict.h: the trace's definitions while it is being written.
 *
 * Gives strings, processes, threads, spaces, scopes and objects their numbers
 * in the file, remembers them, and collects the definition records that the
 * writer has to put before the next events.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_DICT_H
#define ML_DICT_H

#include <stdint.h>

#include "defs.h"
#include "intern.h"
#include "vec.h"

struct ml_dict {
    struct ml_intern strings; /* number 0 is "" */
    struct ml_intern scopes;  /* of (parent, kind, name); number + 1 is the scope's */
    ML_VEC(struct ml_def) by_tag[ML_DEF_TAGS];
    struct ml_buf records; /* definitions not yet written */
    uint32_t record_count;
    int error; /* the first failure (-ENOMEM), kept */
};

int ml_dict_init(struct ml_dict *d);
void ml_dict_release(struct ml_dict *d);

uint32_t ml_dict_string(struct ml_dict *d, const char *bytes, size_t len);
uint32_t ml_dict_cstr(struct ml_dict *d, const char *text);

/* NUL-terminated; "?" for a number that was never given. */
const char *ml_dict_text(const struct ml_dict *d, uint32_t string);

/* Adds a process, thread, space or object; fields as in defs.h. Returns its
 * number, or 0 when memory or numbers run out (see d->error). */
uint32_t ml_dict_add(struct ml_dict *d, enum ml_def_tag tag, const uint64_t fields[ML_DEF_FIELDS]);

/* NULL for a number that was never given. Valid until the next ml_dict_add. */
const struct ml_def *ml_dict_get(const struct ml_dict *d, enum ml_def_tag tag, uint32_t id);

/* The scope `name` of that kind below `parent`; a new one on first sight. */
uint32_t ml_dict_scope(struct ml_dict *d, uint32_t parent, uint32_t kind, uint32_t name);
uint32_t ml_dict_scope_parent(const struct ml_dict *d, uint32_t scope);

/* A setting of the run. */
void ml_dict_config(struct ml_dict *d, const char *key, const char *value);

#endif
