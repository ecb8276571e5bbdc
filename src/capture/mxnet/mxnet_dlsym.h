/* mxnet_dlsym.h: MXNet's functions that are hooked by name: their hooks, how callers find them, and
 * the functions that they wrap.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_MXNET_DLSYM_H
#define ML_MXNET_DLSYM_H

#include <stddef.h>

#include "compiler.h"
#include "dlsym_hook.h"

/* The hook on a function that MXNet's own library calls by name; NULL: it has none. */
void *ml_mxnet_hook_of(const char *symbol);

/* The same for those of mxnet_begin.c, and for those of mxnet_calls.c. */
void *ml_mxnet_begin_hook_of(const char *symbol);
void *ml_mxnet_call_hook_of(const char *symbol);

/* Look-ups of those functions, and of the C functions that are hooked. */
extern const struct ml_dlsym_provider ml_mxnet_dlsym;
extern const struct ml_dlsym_provider ml_mxnet_c_dlsym;

/* The function of that name in MXNet's library, otherwise the one that `caller`, an address in the
 * code that called the hook, would find; NULL: there is only the hook. Takes the loader's lock.
 * Keeps errno. */
void *ml_mxnet_real(const char *symbol, const void *hook, const void *caller);

/* A function that has a hook, as an element of a table for one of the lists in mxnet_entries.h. */
struct ml_mxnet_entry {
    const char *symbol;
    void *hook;
    void *real; /* NULL: not looked up yet */
};

/* For those lists: declares the hook, its number in the table, and its element there. */
#define ML_MXNET_DECLARE(symbol, entry, type)                                                      \
    __attribute__((visibility("default"))) type entry __asm__(#symbol);
#define ML_MXNET_NUMBER(symbol, entry, type) entry##_entry,
#define ML_MXNET_ELEMENT(symbol, entry, type) {#symbol, (void *)(entry), NULL},

/* The hook of that name in a table; NULL: it has none. */
void *ml_mxnet_entry_hook(const struct ml_mxnet_entry *entries, size_t count, const char *symbol);

/* Looks the function up; see ml_mxnet_real. */
void *ml_mxnet_entry_find(struct ml_mxnet_entry *entry, const void *caller);

static ML_ALWAYS_INLINE void *ml_mxnet_entry_real(struct ml_mxnet_entry *entry, const void *caller)
{
    void *real = __atomic_load_n(&entry->real, __ATOMIC_RELAXED);

    return ML_LIKELY(real != NULL) ? real : ml_mxnet_entry_find(entry, caller);
}

/* The same as ml_mxnet_real for a function that has no hook, looked up once.
 * @known  static; NULL: not looked up yet */
void *ml_mxnet_function(void **known, const char *symbol);

#endif
