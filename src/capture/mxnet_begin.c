/* mxnet_begin.c: see mxnet_begin.h.
 *
 * The other hooks are put in place by exchanging words of MXNet's library: those of the
 * tables of virtual functions of its storage and of its naive engine, and the slot
 * through which it calls ThreadedEngine::ExecuteOprBlock.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "mxnet_begin.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "compiler.h"
#include "dlsym_hook.h"
#include "got_slots.h"
#include "loaded.h"
#include "lock.h"
#include "mxnet_arrays.h"
#include "mxnet_layout.h"
#include "mxnet_operators.h"
#include "mxnet_storage.h"
#include "recorder.h"

/* Static functions of MXNet's classes that return an object of which there is one. */
typedef void *get_function(void);

#define DECLARE(entry, symbol)                                                                     \
    __attribute__((visibility("default"))) get_function entry __asm__(#symbol);
ML_MXNET_ENTRIES(DECLARE)
#undef DECLARE

#define ENUM(entry, symbol) entry##_entry,
enum entry { ML_MXNET_ENTRIES(ENUM) ENTRY_COUNT };
#undef ENUM

#define SYMBOL(entry, symbol) #symbol,
static const char *const symbols[ENTRY_COUNT] = {ML_MXNET_ENTRIES(SYMBOL)};
#undef SYMBOL

#define HOOK(entry, symbol) entry,
static get_function *const hooks[ENTRY_COUNT] = {ML_MXNET_ENTRIES(HOOK)};
#undef HOOK

static get_function *reals[ENTRY_COUNT];
static _Atomic bool settled; /* what there is to do is done */
static struct ml_lock lock;
static __thread bool looking; /* MXNet called itself while it was looked at */

/* ---- Putting hooks in place ------------------------------------------------------ */

/* What is to be put where. */
struct patch {
    const struct ml_mxnet_layout *layout;
    void *reals[ML_MXNET_FUNCTIONS];
    void *hooks[ML_MXNET_FUNCTIONS];
    void **storage;   /* virtual functions */
    void **naive;     /* where the naive engine has its own, NULL: it has none */
    uintptr_t inside; /* an address in the library */
};

static void put(const struct patch *p, struct ml_object *o, void **at, enum ml_mxnet_function f)
{
    ml_object_put(o, (uintptr_t)at, (uintptr_t)p->reals[f], p->hooks[f]);
}

/* A slot is resolved, or still to be: then it leads back into its library, as the
 * function does. */
static void patch_slot(struct ml_object *o, const struct ml_slot *slot, void *context)
{
    const struct patch *p = context;
    uintptr_t to, was;

    if (strcmp(slot->symbol, p->layout->symbols[ML_MXNET_EXECUTE]))
        return;
    to = __atomic_load_n((uintptr_t *)slot->at, __ATOMIC_RELAXED);
    while (to >= o->begin && to < o->end) {
        was = ml_object_put(o, slot->at, to, p->hooks[ML_MXNET_EXECUTE]);
        if (was == to)
            break;
        to = was;
    }
}

static int patch_library(struct dl_phdr_info *info, size_t size, void *context)
{
    struct patch *p = context;
    struct ml_object o;

    (void)size;
    ml_object_survey(info, &o);
    if (p->inside < o.begin || p->inside >= o.end)
        return 0;
    put(p, &o, &p->storage[ML_STORAGE_ALLOC], ML_MXNET_ALLOC);
    put(p, &o, &p->storage[ML_STORAGE_FREE], ML_MXNET_FREE);
    put(p, &o, &p->storage[ML_STORAGE_DIRECT_FREE], ML_MXNET_DIRECT_FREE);
    if (p->naive)
        put(p, &o, p->naive, ML_MXNET_NAIVE_PUSH);
    ml_object_slots(&o, patch_slot, p);
    return 1;
}

/* Where a class has a virtual function. Engines have more than this many. */
static void **find_virtual(void **table, const void *function)
{
    enum { ENOUGH = 12 };

    for (unsigned i = ML_VTABLE_HEAD; table && i < ENOUGH; i++) {
        if (table[i] == function)
            return &table[i];
    }
    return NULL;
}

static void put_hooks(void *library, struct patch *p)
{
    void **naive = ml_dlsym_real_function()(library, ML_MXNET_NAIVE_VTABLE);
    void **storage = ml_dlsym_real_function()(library, p->layout->storage_vtable);

    p->inside = (uintptr_t)p->reals[ML_MXNET_ALLOC];
    p->storage = storage + ML_VTABLE_HEAD;
    p->naive = find_virtual(naive, p->reals[ML_MXNET_NAIVE_PUSH]);
    ml_mxnet_storage_hooks(p->layout, p->reals, p->hooks);
    ml_mxnet_operator_hooks(p->layout, p->reals, p->hooks);
    ml_mxnet_arrays_begin(p->layout);
    dl_iterate_phdr(patch_library, p);
}

/* ---- Noticing ------------------------------------------------------------------- */

static void say_unknown(int version)
{
    char text[160];
    int n = snprintf(text, sizeof(text),
                     "memledger: this MXNet (%d) is not one that memledger knows (1.9.1, 2.0.0b1); "
                     "its memory is not recorded\n",
                     version);
    ssize_t ignored = write(STDERR_FILENO, text, (size_t)n);

    (void)ignored;
}

static void look(void)
{
    void *library = ml_loaded_keep(ML_MXNET_LIBRARY);
    struct patch patch = {0};

    if (!library)
        return;
    patch.layout = ml_mxnet_recognise(library, patch.reals);
    if (patch.layout)
        put_hooks(library, &patch);
    else
        say_unknown(ml_mxnet_version(library));
    dlerror(); /* the program shall not find our failures there */
}

/* Others wait until the hooks are in place: what they allocated before would be freed
 * unheard of. Who waits in vain goes on without. */
static ML_NOINLINE void begin(void)
{
    int saved_errno = errno;

    looking = true;
    if (ml_lock_or_give_up(&lock)) {
        if (!settled)
            look();
        ml_unlock(&lock);
    }
    atomic_store_explicit(&settled, true, memory_order_release);
    looking = false;
    errno = saved_errno;
}

/* ---- The hooks ------------------------------------------------------------------ */

static ML_NOINLINE get_function *find_real(enum entry entry, const void *caller)
{
    int saved_errno = errno;
    void *library = ml_loaded_keep(ML_MXNET_LIBRARY);
    void *found = library ? ml_dlsym_real_function()(library, symbols[entry]) : NULL;

    if (!found || found == (void *)hooks[entry])
        found = ml_dlsym_as_seen_from(caller, symbols[entry]);
    dlerror();
    errno = saved_errno;
    __atomic_store_n(&reals[entry], (get_function *)found, __ATOMIC_RELAXED);
    return (get_function *)found;
}

static ML_ALWAYS_INLINE void *get(enum entry entry, const void *caller)
{
    get_function *real = __atomic_load_n(&reals[entry], __ATOMIC_RELAXED);

    if (ML_UNLIKELY(!real))
        real = find_real(entry, caller);
    if (ML_UNLIKELY(!atomic_load_explicit(&settled, memory_order_acquire)) && !looking &&
        ml_recorder_in_session())
        begin();
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

void *ml_mxnet_hook_of(const char *symbol)
{
    for (unsigned i = 0; i < ENTRY_COUNT; i++) {
        if (!strcmp(symbol, symbols[i]))
            return (void *)hooks[i];
    }
    return NULL;
}
