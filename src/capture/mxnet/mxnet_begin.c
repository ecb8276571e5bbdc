/* mxnet_begin.c: the hooks that detect MXNet.
 *
 * Every operator of MXNet begins with mxnet::Engine::Get(), every allocation with
 * mxnet::Storage::Get(), and MXNet's library calls both by name: so the recorder is there before
 * the first, in Python and in C. The first call identifies the build of MXNet and puts the other
 * hooks in place, or leaves MXNet alone for good and says so.
 *
 * The other hooks are put in place by replacing words of MXNet's library: entries in tables of
 * virtual functions, and slots through which it calls functions by name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

#include "compiler.h"
#include "dlsym_hook.h"
#include "loaded.h"
#include "lock.h"
#include "mxnet_arrays.h"
#include "mxnet_dlsym.h"
#include "mxnet_entries.h"
#include "mxnet_features.h"
#include "mxnet_layout.h"
#include "recorder.h"
#include "sys.h"

/* Static functions of MXNet's classes that return a singleton. */
typedef void *get_function(void);

ML_MXNET_ENTRIES(ML_MXNET_DECLARE)
enum entry { ML_MXNET_ENTRIES(ML_MXNET_NUMBER) ENTRY_COUNT };
static struct ml_mxnet_entry entries[ENTRY_COUNT] = {ML_MXNET_ENTRIES(ML_MXNET_ELEMENT)};

static _Atomic bool settled; /* nothing is left to do */
static _Atomic bool is_known;
static struct ml_lock begin_lock;
static __thread bool looking; /* MXNet called itself while this thread examined it */

/* ---- Detection ------------------------------------------------------------------- */

/* Prints the notice once per run. */
static void say_once(enum ml_notice notice, const char *format, int version)
{
    char text[200];

    snprintf(text, sizeof(text), format, version);
    if (!ml_session || ml_session_tells(ml_session, notice))
        ml_sys_say(text);
}

/* Features that hand work over come before those that take it. */
static void put_hooks(void *library, const struct ml_mxnet_layout *layout, const void *inside)
{
    const struct ml_mxnet_feature *const features[] = {
        ml_mxnet_works_feature(layout),     ml_mxnet_nodes_feature(layout),
        ml_mxnet_executors_feature(layout), ml_mxnet_symbolic_feature(layout),
        ml_mxnet_operators_feature(layout), ml_mxnet_outputs_feature(layout),
        ml_mxnet_pools_feature(layout),     ml_mxnet_storage_feature(layout),
        ml_mxnet_bind_feature(layout),      ml_mxnet_parameter_files_feature(layout),
    };

    atomic_store_explicit(&is_known, true, memory_order_relaxed);
    ml_mxnet_arrays_begin(layout);
    if (!ml_mxnet_exchange(library, inside, features, sizeof(features) / sizeof(*features)))
        say_once(ML_NOTICE_MXNET_PARTLY,
                 "memledger: this MXNet (%d) differs from the one that memledger knows; some of "
                 "its memory has no names\n",
                 layout->version);
}

static void look(void)
{
    void *library = ml_loaded_keep(ML_MXNET_LIBRARY);
    void *functions[ML_MXNET_FUNCTIONS];
    const struct ml_mxnet_layout *layout;

    if (!library)
        return;
    layout = ml_mxnet_recognise(library, functions);
    if (layout)
        put_hooks(library, layout, functions[ML_MXNET_ALLOC]);
    else
        say_once(ML_NOTICE_MXNET,
                 "memledger: this build of MXNet (%d) is unknown (known: 1.9.1, 2.0.0b1); "
                 "its memory is not recorded\n",
                 ml_mxnet_version(library));
    dlerror(); /* the program must not find our failures there */
}

/* Other threads wait until the hooks are in place: without the hook on an allocation, its free
 * would be unknown. A thread that waits in vain continues without. */
static ML_NOINLINE void begin(void)
{
    int saved_errno = errno;

    looking = true;
    if (ml_lock_or_give_up(&begin_lock)) {
        if (!settled)
            look();
        /* Set before the next thread enters, because it would take the hooks for MXNet's functions.
         */
        atomic_store_explicit(&settled, true, memory_order_release);
        ml_unlock(&begin_lock);
    }
    atomic_store_explicit(&settled, true, memory_order_release);
    looking = false;
    errno = saved_errno;
}

static void begin_once(void)
{
    if (ML_UNLIKELY(!atomic_load_explicit(&settled, memory_order_acquire)) && !looking &&
        ml_recorder_in_session())
        begin();
}

bool ml_mxnet_identify(void)
{
    begin_once();
    return atomic_load_explicit(&is_known, memory_order_relaxed);
}

bool ml_mxnet_begin_now(void)
{
    if (!atomic_load_explicit(&settled, memory_order_acquire) && !looking)
        begin();
    return atomic_load_explicit(&is_known, memory_order_relaxed);
}

/* ---- The hooks ------------------------------------------------------------------ */

static ML_ALWAYS_INLINE void *get(enum entry entry, const void *caller)
{
    get_function *real = (get_function *)ml_mxnet_entry_real(&entries[entry], caller);

    begin_once();
    return ML_LIKELY(real != NULL) ? real() : NULL;
}

void *get_engine(void)
{
    return get(get_engine_entry, __builtin_return_address(0));
}

void *get_storage(void)
{
    return get(get_storage_entry, __builtin_return_address(0));
}

void *ml_mxnet_begin_hook_of(const char *symbol)
{
    return ml_mxnet_entry_hook(entries, ENTRY_COUNT, symbol);
}
