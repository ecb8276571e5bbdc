/* cuda_resolve.c: see cuda_resolve.h.
 *
 * No locks: every thread that fills a table writes the same values, and each slot is one word. Two
 * small hash tables, by name and by address, have room for all entries by their type.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda_resolve.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "compiler.h"
#include "cuda_call.h"
#include "cuda_driver.h"
#include "dlsym_hook.h"
#include "loaded.h"
#include "recorder.h"

/* Every call of the toolkit's stub for a missing driver returns this. */
#define ERROR_STUB_LIBRARY 34
/* cuGetProcAddress reports this for a function that this driver does not have. */
#define ERROR_NOT_FOUND 500

#define SLOTS 1024
#define DRIVER "libcuda.so"

_Static_assert(ML_CUDA_ENTRY_COUNT * 2 < SLOTS, "tables stay half empty");

#define NAME(symbol, arguments, action) #symbol,
static const char *const names[] = {ML_CUDA_ENTRIES(NAME)};
#undef NAME

void *ml_cuda_real[ML_CUDA_ENTRY_COUNT];
bool ml_cuda_armed;

static bool known;

/* Entries plus one; 0: empty. */
static uint16_t by_name[SLOTS];
static uint16_t by_address[SLOTS];
static bool by_name_filled;

/* ---- By name ------------------------------------------------------------- */

static unsigned hash_name(const char *name)
{
    uint32_t hash = 2166136261u;

    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    return (hash ^ hash >> 16) % SLOTS;
}

static unsigned next(unsigned slot)
{
    return (slot + 1) % SLOTS;
}

static unsigned entry_at(const uint16_t *table, unsigned slot)
{
    return __atomic_load_n(&table[slot], __ATOMIC_RELAXED);
}

/* In the order of the table: a second thread finds what the first has stored, or stores the same.
 */
static void put(uint16_t *table, unsigned slot, unsigned entry)
{
    uint16_t wanted = (uint16_t)(entry + 1);

    for (;; slot = next(slot)) {
        uint16_t there = 0;
        if (__atomic_compare_exchange_n(&table[slot], &there, wanted, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED) ||
            there == wanted)
            return;
    }
}

static void fill_by_name(void)
{
    for (unsigned i = 0; i < ML_CUDA_ENTRY_COUNT; i++)
        put(by_name, hash_name(names[i]), i);
    /* Pairs with the acquire load in ml_cuda_entry_of. */
    __atomic_store_n(&by_name_filled, true, __ATOMIC_RELEASE);
}

enum ml_cuda_entry ml_cuda_entry_of(const char *name)
{
    unsigned slot = hash_name(name);
    unsigned entry;

    if (ML_UNLIKELY(!__atomic_load_n(&by_name_filled, __ATOMIC_ACQUIRE)))
        fill_by_name();
    for (; (entry = entry_at(by_name, slot)); slot = next(slot)) {
        if (!strcmp(names[entry - 1], name))
            return (enum ml_cuda_entry)(entry - 1);
    }
    return ML_CUDA_ENTRY_COUNT;
}

/* ---- By address ------------------------------------------------------------ */

static unsigned hash_address(const void *address)
{
    return (unsigned)(((uintptr_t)address * 0x9e3779b97f4a7c15) >> 54) % SLOTS;
}

static void *real_of(unsigned entry)
{
    return __atomic_load_n(&ml_cuda_real[entry], __ATOMIC_RELAXED);
}

void *ml_cuda_hand_out(void *address)
{
    unsigned slot = hash_address(address);
    unsigned entry;

    if (!address || !__atomic_load_n(&ml_cuda_armed, __ATOMIC_RELAXED))
        return address;
    for (; (entry = entry_at(by_address, slot)); slot = next(slot)) {
        if (real_of(entry - 1) == address)
            return ml_cuda_hooks[entry - 1];
    }
    return address;
}

struct ml_cuda_span ml_cuda_real_span(void)
{
    struct ml_cuda_span span = {UINTPTR_MAX, 0};

    for (unsigned i = 0; i < ML_CUDA_ENTRY_COUNT; i++) {
        uintptr_t at = (uintptr_t)real_of(i);
        if (!at)
            continue;
        span.begin = ml_min_u64(span.begin, at);
        span.end = ml_max_u64(span.end, at + 1);
    }
    return span;
}

/* ---- For dlsym ------------------------------------------------------------- */

/* A caller that wraps the driver itself gets the next function after it, unless that is a hook that
 * wraps nothing. */
static void *hook_for_dlsym(void *handle, const char *name)
{
    enum ml_cuda_entry entry = ml_cuda_entry_of(name);

    if (entry == ML_CUDA_ENTRY_COUNT || (ml_cuda_resolve() && handle == RTLD_NEXT))
        return NULL;
    return ml_cuda_hooks[entry];
}

static void *hand_out(const char *name, void *found, void *hook)
{
    (void)name;
    (void)hook;
    return ml_cuda_hand_out(found);
}

const struct ml_dlsym_provider ml_cuda_dlsym = {
    .prefix = {'c', 'u'},
    .hook_of = hook_for_dlsym,
    .hand_out = hand_out,
};

/* ---- The driver ------------------------------------------------------------ */

/* RTLD_NEXT if it has an unusual name but is linked. */
static void *driver_handle(void)
{
    static void *known_handle;
    void *handle = __atomic_load_n(&known_handle, __ATOMIC_RELAXED);

    if (handle)
        return handle;
    handle = ml_loaded_keep(DRIVER);
    __atomic_store_n(&known_handle, handle, __ATOMIC_RELAXED);
    return handle ? handle : RTLD_NEXT;
}

static void learn(void *handle)
{
    ml_dlsym_function *look_up = ml_dlsym_real_function();

    for (unsigned i = 0; i < ML_CUDA_ENTRY_COUNT; i++) {
        void *real = look_up(handle, names[i]);
        if (!real)
            continue;
        __atomic_store_n(&ml_cuda_real[i], real, __ATOMIC_RELAXED);
        put(by_address, hash_address(real), i);
    }
}

static bool attached;

static bool wanted(void)
{
    return attached || (ml_recorder_in_session() && ml_session->cuda != ML_CUDA_OFF);
}

void ml_cuda_arm(bool on)
{
    attached = on;
    if (__atomic_load_n(&known, __ATOMIC_ACQUIRE))
        __atomic_store_n(&ml_cuda_armed, on, __ATOMIC_RELAXED);
}

bool ml_cuda_resolve(void)
{
    int saved_errno = errno;
    void *handle;

    if (ML_LIKELY(__atomic_load_n(&known, __ATOMIC_ACQUIRE)))
        return true;
    handle = driver_handle();
    if (ml_dlsym_real_function()(handle, "cuInit")) {
        learn(handle);
        __atomic_store_n(&ml_cuda_armed, wanted(), __ATOMIC_RELAXED);
        /* Pairs with the acquire load above: the tables are filled. */
        __atomic_store_n(&known, true, __ATOMIC_RELEASE);
        ml_cuda_driver_learn();
    }
    dlerror(); /* the program must not find our failures there */
    errno = saved_errno;
    return __atomic_load_n(&known, __ATOMIC_RELAXED);
}

/* For a driver that was loaded with the program, whose functions can be called without a look-up.
 * Without a driver this leaves no trace: a look-up that fails takes memory from the program's heap.
 */
__attribute__((constructor)) static void resolve_at_load(void)
{
    char path[PATH_MAX];

    if (ml_loaded_path(DRIVER, path))
        ml_cuda_resolve();
}

/* Called instead of functions with any number of arguments, which the caller removes again. */
static int no_driver(void)
{
    return ERROR_STUB_LIBRARY;
}

static int no_function(void)
{
    return ERROR_NOT_FOUND;
}

static void *failing(void)
{
    return (void *)(__atomic_load_n(&known, __ATOMIC_RELAXED) ? no_function : no_driver);
}

/* A library may be linked with this one, and then finds only the hook again. */
void *ml_cuda_fallback(enum ml_cuda_entry entry, const void *caller)
{
    int saved_errno = errno;
    void *found = ml_dlsym_as_seen_from(caller, names[entry]);

    dlerror(); /* as in ml_cuda_resolve */
    errno = saved_errno;
    return found && found != ml_cuda_hooks[entry] ? found : failing();
}

void *ml_cuda_function(const char *name)
{
    enum ml_cuda_entry entry = ml_cuda_entry_of(name);
    void *found;

    if (!ml_cuda_resolve())
        return NULL;
    if (entry != ML_CUDA_ENTRY_COUNT)
        return real_of(entry);
    found = ml_dlsym_real_function()(driver_handle(), name);
    if (!found)
        dlerror();
    return found;
}
