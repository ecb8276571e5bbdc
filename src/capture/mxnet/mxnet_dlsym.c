/* mxnet_dlsym.c: see mxnet_dlsym.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "mxnet_dlsym.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "loaded.h"
#include "mxnet_bind.h"
#include "mxnet_cached.h"
#include "mxnet_layout.h"
#include "mxnet_profiler.h"

void *ml_mxnet_real(const char *symbol, const void *hook, const void *caller)
{
    int saved_errno = errno;
    void *library = ml_loaded_keep(ML_MXNET_LIBRARY);
    void *found = library ? ml_dlsym_real_function()(library, symbol) : NULL;

    if (!found || found == hook)
        found = ml_dlsym_as_seen_from(caller, symbol);
    dlerror(); /* the program must not find our failures there */
    errno = saved_errno;
    return found == hook ? NULL : found;
}

void *ml_mxnet_entry_hook(const struct ml_mxnet_entry *entries, size_t count, const char *symbol)
{
    for (size_t i = 0; i < count; i++) {
        if (!strcmp(symbol, entries[i].symbol))
            return entries[i].hook;
    }
    return NULL;
}

void *ml_mxnet_entry_find(struct ml_mxnet_entry *entry, const void *caller)
{
    void *real = ml_mxnet_real(entry->symbol, entry->hook, caller);

    __atomic_store_n(&entry->real, real, __ATOMIC_RELAXED);
    return real;
}

void *ml_mxnet_function(void **known, const char *symbol)
{
    void *found = __atomic_load_n(known, __ATOMIC_RELAXED);

    if (!found) {
        found = ml_mxnet_real(symbol, NULL, __builtin_return_address(0));
        __atomic_store_n(known, found, __ATOMIC_RELAXED);
    }
    return found;
}

void *ml_mxnet_hook_of(const char *symbol)
{
    void *hook = ml_mxnet_begin_hook_of(symbol);

    return hook ? hook : ml_mxnet_call_hook_of(symbol);
}

static void *hook_for_dlsym(void *handle, const char *name)
{
    (void)handle;
    return ml_mxnet_hook_of(name);
}

static void *naming_hook_of(const char *name)
{
    void *hook = ml_mxnet_bind_hook_of(name);

    return hook ? hook : ml_mxnet_cached_hook_of(name);
}

/* A caller that wraps the profiler itself gets the next function after it. */
static void *c_hook_for_dlsym(void *handle, const char *name)
{
    void *hook = handle == RTLD_NEXT ? NULL : ml_mxnet_profiler_hook_of(name);

    return hook ? hook : naming_hook_of(name);
}

static void *hand_out_c(const char *name, void *found, void *hook)
{
    if (naming_hook_of(name))
        return ml_dlsym_hide(name, found, hook);
    return ml_mxnet_profiler_hand_out(name, found);
}

const struct ml_dlsym_provider ml_mxnet_dlsym = {
    .prefix = {'_', 'Z'},
    .hook_of = hook_for_dlsym,
    .hand_out = ml_dlsym_hide,
};

const struct ml_dlsym_provider ml_mxnet_c_dlsym = {
    .prefix = {'M', 'X'},
    .hook_of = c_hook_for_dlsym,
    .hand_out = hand_out_c,
};
