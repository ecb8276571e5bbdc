/* mxnet_profiler.c: see mxnet_profiler.h.
 *
 * Every hook passes its call on, and records what MXNet accepted. A program in C finds the hooks
 * first, because they are preloaded; Python looks the functions up in MXNet's library itself, by
 * dlsym, which returns the hooks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "mxnet_profiler.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "api_control.h"
#include "api_objects.h"
#include "compiler.h"
#include "config_keys.h"
#include "env_number.h"
#include "mxnet_dlsym.h"
#include "mxnet_entries.h"
#include "objects.h"
#include "pointer_table.h"
#include "recorder.h"

typedef int config_function(int n, const char *const *keys, const char *const *vals, void *kvstore);
typedef int control_function(int on, int process, void *kvstore);
typedef int create_function(const char *name, void **ret);
typedef int create_in_function(void *domain, const char *name, void **ret);
typedef int handle_function(void *handle);
typedef int set_counter_function(void *handle, uint64_t value);
typedef int adjust_counter_function(void *handle, int64_t change);
typedef int marker_function(void *domain, const char *name, const char *scope);

#define DECLARE(symbol, entry, type)                                                               \
    __attribute__((visibility("default"))) type entry __asm__(#symbol);
ML_MXNET_PROFILER_ENTRIES(DECLARE)
#undef DECLARE

#define ENUM(symbol, entry, type) entry##_entry,
enum entry { ML_MXNET_PROFILER_ENTRIES(ENUM) ENTRY_COUNT };
#undef ENUM

#define SYMBOL(symbol, entry, type) #symbol,
static const char *const symbols[ENTRY_COUNT] = {ML_MXNET_PROFILER_ENTRIES(SYMBOL)};
#undef SYMBOL

#define HOOK(symbol, entry, type) (void *)(entry),
static void *const hooks[ENTRY_COUNT] = {ML_MXNET_PROFILER_ENTRIES(HOOK)};
#undef HOOK

static void *reals[ENTRY_COUNT];

/* ---- MXNet's functions ---------------------------------------------------------- */

static ML_NOINLINE void *find_real(enum entry entry, const void *caller)
{
    void *real = ml_mxnet_real(symbols[entry], hooks[entry], caller);

    __atomic_store_n(&reals[entry], real, __ATOMIC_RELAXED);
    return real;
}

/* Passes the call on; MXNet's result, or -1 if MXNet's function is unknown. */
#define CALL(type, entry, ...)                                                                     \
    ({                                                                                             \
        void *known = __atomic_load_n(&reals[entry], __ATOMIC_RELAXED);                            \
        void *real = known ? known : find_real(entry, __builtin_return_address(0));                \
        real ? ((type *)real)(__VA_ARGS__) : -1;                                                   \
    })

static enum entry entry_of(const char *symbol)
{
    unsigned i = 0;

    while (i < ENTRY_COUNT && strcmp(symbols[i], symbol))
        i++;
    return (enum entry)i;
}

void *ml_mxnet_profiler_hook_of(const char *symbol)
{
    enum entry entry = entry_of(symbol);

    return entry < ENTRY_COUNT ? hooks[entry] : NULL;
}

/* The first function that is found is MXNet's. */
void *ml_mxnet_profiler_hand_out(const char *symbol, void *found)
{
    enum entry entry = entry_of(symbol);
    void *real = NULL;

    if (!found || !ml_recorder_in_session())
        return found;
    __atomic_compare_exchange_n(&reals[entry], &real, found, false, __ATOMIC_RELAXED,
                                __ATOMIC_RELAXED);
    return !real || real == found ? hooks[entry] : found;
}

/* ---- Whether it runs ------------------------------------------------------------ */

enum { RUNS = 1, PAUSED = 2, HAS_CALLS = 4, IS_KNOWN = 8 };
enum { MODE_API = 4, DEFAULT_MODE = 13, WORKER = 0 };

static _Atomic unsigned flags;

/* The settings that MXNet reads from the environment until a program changes them. */
static ML_NOINLINE unsigned read_environment(void)
{
    uint32_t mode = ml_env_number("MXNET_PROFILER_MODE", DEFAULT_MODE);
    unsigned before = 0, read = IS_KNOWN;

    read |= mode & MODE_API ? HAS_CALLS : 0;
    read |= ml_env_number("MXNET_PROFILER_AUTOSTART", 0) ? RUNS : 0;
    return atomic_compare_exchange_strong(&flags, &before, read) ? read : before;
}

static unsigned get_flags(void)
{
    unsigned now = atomic_load_explicit(&flags, memory_order_relaxed);

    return ML_LIKELY(now) ? now : read_environment();
}

static void change_flags(unsigned set, unsigned clear)
{
    get_flags();
    atomic_fetch_and(&flags, ~clear);
    atomic_fetch_or(&flags, set);
}

static bool records(void)
{
    return (get_flags() & (RUNS | PAUSED)) == RUNS && ml_control_records();
}

bool ml_mxnet_profiler_wants_calls(void)
{
    return (get_flags() & (RUNS | PAUSED | HAS_CALLS)) == (RUNS | HAS_CALLS);
}

static bool is_on(enum ml_config_key key, int n, const char *const *keys, const char *const *vals)
{
    const char *value = ml_config_keys[key].default_value;

    for (int i = 0; i < n; i++) {
        if (!strcmp(keys[i], ml_config_keys[key].name))
            value = ml_config_check(key, vals[i]);
    }
    return value && !strcmp(value, "true");
}

static bool is_for_servers(int n, const char *const *keys, const char *const *vals)
{
    for (int i = 0; i < n; i++) {
        if (!strcmp(keys[i], ml_config_keys[ML_CONFIG_PROFILE_PROCESS].name))
            return !strcmp(vals[i], "server");
    }
    return false;
}

int set_config(int n, const char *const *keys, const char *const *vals, void *kvstore)
{
    int result = CALL(config_function, set_config_entry, n, keys, vals, kvstore);

    if (result || is_for_servers(n, keys, vals))
        return result;
    if (is_on(ML_CONFIG_PROFILE_API, n, keys, vals) || is_on(ML_CONFIG_PROFILE_ALL, n, keys, vals))
        change_flags(HAS_CALLS, 0);
    else
        change_flags(0, HAS_CALLS);
    return result;
}

int set_state(int state, int process, void *kvstore)
{
    int result = CALL(control_function, set_state_entry, state, process, kvstore);

    if (!result && process == WORKER)
        change_flags(state ? RUNS : PAUSED, state ? PAUSED : RUNS);
    return result;
}

int set_paused(int paused, int process, void *kvstore)
{
    int result = CALL(control_function, set_paused_entry, paused, process, kvstore);

    if (!result && process == WORKER)
        change_flags(paused ? PAUSED : 0, paused ? 0 : PAUSED);
    return result;
}

/* ---- Objects -------------------------------------------------------------------- */

/* Maps MXNet's objects to the recorder's. */
static struct ml_pointer_table handles;

static void made(int kind, const void *domain, const char *name, const void *handle)
{
    bool in_domain = kind != MEMLEDGER_DOMAIN && kind != MEMLEDGER_EVENT;
    memledger_object parent = in_domain ? ml_pointer_get(&handles, domain) : 0;
    memledger_object object = !in_domain || parent ? ml_api_create(kind, parent, name) : 0;

    if (object && !ml_pointer_put(&handles, handle, object))
        ml_recorder_cannot_follow();
}

int create_domain(const char *name, void **ret)
{
    int result = CALL(create_function, create_domain_entry, name, ret);

    if (!result)
        made(MEMLEDGER_DOMAIN, NULL, name, *ret);
    return result;
}

int create_task(void *domain, const char *name, void **ret)
{
    int result = CALL(create_in_function, create_task_entry, domain, name, ret);

    if (!result)
        made(MEMLEDGER_TASK, domain, name, *ret);
    return result;
}

int create_frame(void *domain, const char *name, void **ret)
{
    int result = CALL(create_in_function, create_frame_entry, domain, name, ret);

    if (!result)
        made(MEMLEDGER_FRAME, domain, name, *ret);
    return result;
}

int create_event(const char *name, void **ret)
{
    int result = CALL(create_function, create_event_entry, name, ret);

    if (!result)
        made(MEMLEDGER_EVENT, NULL, name, *ret);
    return result;
}

int create_counter(void *domain, const char *name, void **ret)
{
    int result = CALL(create_in_function, create_counter_entry, domain, name, ret);

    if (!result)
        made(MEMLEDGER_COUNTER, domain, name, *ret);
    return result;
}

/* Domains are not destroyed. MXNet may reuse the handle as soon as the call returns, so it is
 * removed before. */
int destroy_handle(void *handle)
{
    memledger_object object = ml_pointer_get(&handles, handle);
    const struct ml_user_object *o = ml_objects_get(object);

    if (o && o->kind != MEMLEDGER_DOMAIN) {
        ml_pointer_take(&handles, handle);
        ml_api_destroy(object);
    }
    return CALL(handle_function, destroy_handle_entry, handle);
}

/* ---- Operations on them ------------------------------------------------------------ */

static bool is_running(memledger_object object)
{
    struct ml_user_object *o = ml_objects_get(object);

    return o && atomic_load_explicit(&o->run_state, memory_order_relaxed) != ML_IDLE;
}

int start_duration(void *handle)
{
    int result = CALL(handle_function, start_duration_entry, handle);
    memledger_object object = result ? 0 : ml_pointer_get(&handles, handle);

    if (object && records())
        ml_api_start(object);
    return result;
}

int stop_duration(void *handle)
{
    int result = CALL(handle_function, stop_duration_entry, handle);
    memledger_object object = result ? 0 : ml_pointer_get(&handles, handle);

    if (object && is_running(object))
        ml_api_stop(object);
    return result;
}

/* A counter keeps counting while nothing is recorded. */
static void count(void *handle, int64_t value, bool adjust)
{
    memledger_object object = ml_pointer_get(&handles, handle);
    struct ml_user_object *o = ml_objects_get(object);

    if (!o || o->kind != MEMLEDGER_COUNTER)
        return;
    if (records() && adjust) {
        ml_api_counter_adjust(object, value);
    } else if (records()) {
        ml_api_counter_set(object, (uint64_t)value);
    } else {
        if (adjust)
            atomic_fetch_add_explicit(&o->value, value, memory_order_relaxed);
        else
            atomic_store_explicit(&o->value, value, memory_order_relaxed);
        atomic_store_explicit(&o->value_unsent, true, memory_order_relaxed);
    }
}

int set_counter(void *handle, uint64_t value)
{
    int result = CALL(set_counter_function, set_counter_entry, handle, value);

    if (!result && value <= INT64_MAX)
        count(handle, (int64_t)value, false);
    return result;
}

int adjust_counter(void *handle, int64_t change)
{
    int result = CALL(adjust_counter_function, adjust_counter_entry, handle, change);

    if (!result)
        count(handle, change, true);
    return result;
}

int set_marker(void *domain, const char *name, const char *scope)
{
    int result = CALL(marker_function, set_marker_entry, domain, name, scope);
    memledger_object object = result || !records() ? 0 : ml_pointer_get(&handles, domain);

    if (object)
        ml_api_marker(object, name, scope);
    return result;
}
