/* api_control.c: settings, state, dumps and statistics.
 *
 * The collector makes the profile; this file checks and sends settings, and asks the two questions.
 * In a process that is not recorded, valid calls do nothing and return 0, as they do without a
 * recorder.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "api_control.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "api_error.h"
#include "config_keys.h"
#include "memledger/memledger.h"
#include "names.h"
#include "owner_lock.h"
#include "profile_output.h"
#include "recorder.h"
#include "recorder_parts.h"
#include "request.h"
#include "sys.h"

/* Forked children inherit it, as in a program that profiles itself. */
static _Atomic bool stopped;
static _Atomic bool paused_now;

/* The bits that decide whether calls of a framework's API are recorded. */
enum { CALLS_SET = 1, ALL_SET = 2, PROFILE_RUNS = 4, PROFILE_PAUSED = 8 };
static _Atomic uint32_t call_flags = CALLS_SET;

/* Whether "continuous_dump" is off. */
static _Atomic bool each_dump_ends;

/* The settings so far, key:value as string numbers, 0: the default. A forked child announces them
 * while names may be locked, so numbers are stored here. */
static _Atomic uint64_t settings[ML_CONFIG_KEYS];

/* Keeps the keys of one call together. */
static struct ml_owner_lock config_lock;

bool ml_control_records(void)
{
    return !atomic_load_explicit(&stopped, memory_order_relaxed) &&
           !atomic_load_explicit(&paused_now, memory_order_relaxed);
}

/* Whether a worker that controls the profile of this process, a server, wants them. */
static bool another_wants_calls(void)
{
    const struct ml_ringset *set = ml_recorder_first_set();

    return set && atomic_load_explicit(&set->calls_wanted, memory_order_relaxed);
}

bool ml_control_wants_calls(void)
{
    uint32_t flags = atomic_load_explicit(&call_flags, memory_order_relaxed);

    return ((flags & (PROFILE_RUNS | PROFILE_PAUSED)) == PROFILE_RUNS &&
            (flags & (CALLS_SET | ALL_SET))) ||
           another_wants_calls();
}

static void change_call_flag(uint32_t flag, bool on)
{
    if (on)
        atomic_fetch_or(&call_flags, flag);
    else
        atomic_fetch_and(&call_flags, ~flag);
}

/* ---- Settings ----------------------------------------------------------- */

static int unknown_key(const char *key)
{
    int nearest = ml_config_nearest(key);

    if (nearest >= 0)
        return ml_fail("unknown key \"", key, "\"; did you mean \"", ml_config_keys[nearest].name,
                       "\"? The keys are ", ml_config_names);
    return ml_fail("unknown key \"", key, "\"; the keys are ", ml_config_names);
}

static int check_pair(const char *key, const char *value)
{
    int id;

    if (!key || !value)
        return ml_fail("a key or a value is NULL");
    id = ml_config_find(key);
    if (id < 0)
        return unknown_key(key);
    if (!ml_config_check((enum ml_config_key)id, value))
        return ml_fail("bad value \"", value, "\" for key \"", key, "\": expected ",
                       ml_config_allowed[ml_config_keys[id].type]);
    return 0;
}

static int check_all(int n, const char *const *keys, const char *const *vals)
{
    if (n < 0)
        return ml_fail("the number of keys is negative");
    if (n && (!keys || !vals))
        return ml_fail("keys or values are NULL");
    for (int i = 0; i < n; i++) {
        if (check_pair(keys[i], vals[i]))
            return -1;
    }
    return 0;
}

static void record_setting(uint64_t setting)
{
    uint64_t words[] = {ml_record_word(ML_REC_CONFIG, 0, ml_now()), setting};

    ml_record(words, 2);
}

static const char *process_in(int n, const char *const *keys, const char *const *vals)
{
    const char *process = ml_config_keys[ML_CONFIG_PROFILE_PROCESS].default_value;

    for (int i = 0; i < n; i++) {
        if (ml_config_find(keys[i]) == ML_CONFIG_PROFILE_PROCESS)
            process = vals[i];
    }
    return process;
}

/* For settings of this process. By now true and false have one spelling each. */
static void keep_setting(enum ml_config_key key, const char *value, uint64_t setting)
{
    atomic_store_explicit(&settings[key], setting, memory_order_relaxed);
    if (key == ML_CONFIG_PROFILE_API)
        change_call_flag(CALLS_SET, !strcmp(value, "true"));
    else if (key == ML_CONFIG_PROFILE_ALL)
        change_call_flag(ALL_SET, !strcmp(value, "true"));
    else if (key == ML_CONFIG_CONTINUOUS_DUMP)
        atomic_store_explicit(&each_dump_ends, !strcmp(value, "false"), memory_order_relaxed);
}

/* Whose settings they are is sent first, whatever the order of the keys.
 * @ret_file  the string that "filename" was set to, if it was
 * @return whether they are this process's own */
static bool send_all(int n, const char *const *keys, const char *const *vals, uint32_t *ret_file)
{
    const char *process = process_in(n, keys, vals);
    bool own = !strcmp(process, "worker");

    record_setting(ml_pair(ml_name_kept(ml_config_keys[ML_CONFIG_PROFILE_PROCESS].name),
                           ml_name_kept(process)));
    for (int i = 0; i < n; i++) {
        enum ml_config_key key = (enum ml_config_key)ml_config_find(keys[i]);
        const char *value = ml_config_check(key, vals[i]);
        uint32_t name =
            key == ML_CONFIG_FILENAME ? ml_profile_output_name(value) : ml_name_kept(value);
        uint64_t setting = ml_pair(ml_name_kept(ml_config_keys[key].name), name);
        if (key == ML_CONFIG_PROFILE_PROCESS)
            continue;
        record_setting(setting);
        if (own)
            keep_setting(key, value, setting);
        if (key == ML_CONFIG_FILENAME)
            *ret_file = name;
    }
    return own;
}

int ml_api_set_config(int n, const char *const *keys, const char *const *vals)
{
    int saved_errno = errno;
    struct ml_quiet quiet;
    uint32_t file = 0;
    bool locked, own = true;

    if (check_all(n, keys, vals))
        return -1;
    if (!ml_recorder_start())
        return 0;
    ml_quiet_begin(&quiet);
    locked = ml_owner_lock(&config_lock);
    if (locked) {
        own = send_all(n, keys, vals, &file);
        ml_owner_unlock(&config_lock);
    }
    ml_quiet_end(&quiet);
    if (file)
        ml_profile_output_named(file, !own);
    errno = saved_errno;
    if (locked)
        return 0;
    return ml_calls_allowed() ? ml_fail("another thread's set_config does not return")
                              : ml_fail_in_sandbox();
}

static void announce_settings(void)
{
    change_call_flag(PROFILE_RUNS | PROFILE_PAUSED, false);
    for (int i = 0; i < ML_CONFIG_KEYS; i++) {
        uint64_t setting = atomic_load_explicit(&settings[i], memory_order_relaxed);
        if (setting)
            record_setting(setting);
    }
}

const struct ml_recorder_part ml_control_part = {.announce_settings = announce_settings};

/* ---- State -------------------------------------------------------------- */

static int check_process(int process)
{
    if (process != MEMLEDGER_WORKER && process != MEMLEDGER_SERVER)
        return ml_fail("bad process: expected 0 (MEMLEDGER_WORKER) or 1 (MEMLEDGER_SERVER)");
    return 0;
}

/* Settings for servers apply when the call returns, as with MXNet's kvstore. A worker can do
 * nothing about a collector that does not answer. */
static void wait_for_servers(void)
{
    (void)ml_request(ML_REQUEST_NOTHING, 0, NULL);
}

static void record_state(int process, enum ml_profile_state state)
{
    bool servers = process == MEMLEDGER_SERVER;

    if (!ml_recorder_start())
        return;
    if (state == ML_PROFILE_RUN)
        ml_profile_output_run(servers);
    ml_record(
        (uint64_t[]){ml_record_word(ML_REC_STATE, 0, ml_now()), ml_pair((uint64_t)process, state)},
        2);
    if (servers)
        wait_for_servers();
}

int ml_api_set_state(int state, int process)
{
    bool run = state == MEMLEDGER_RUN;

    if (check_process(process))
        return -1;
    if (!run && state != MEMLEDGER_STOP)
        return ml_fail("bad state: expected 0 (MEMLEDGER_STOP) or 1 (MEMLEDGER_RUN)");
    if (process == MEMLEDGER_WORKER) {
        atomic_store_explicit(&stopped, !run, memory_order_relaxed);
        atomic_store_explicit(&paused_now, !run, memory_order_relaxed);
    }
    record_state(process, run ? ML_PROFILE_RUN : ML_PROFILE_STOP);
    if (process == MEMLEDGER_WORKER) {
        change_call_flag(PROFILE_PAUSED, false);
        change_call_flag(PROFILE_RUNS, run);
    }
    return 0;
}

int ml_api_pause(int paused, int process)
{
    if (check_process(process))
        return -1;
    if (process == MEMLEDGER_WORKER) {
        atomic_store_explicit(&paused_now, paused != 0, memory_order_relaxed);
        change_call_flag(PROFILE_PAUSED, paused != 0);
    }
    record_state(process, paused ? ML_PROFILE_PAUSE : ML_PROFILE_RESUME);
    return 0;
}

/* ---- Questions ---------------------------------------------------------- */

int ml_api_dump(int finished, int process)
{
    uint64_t argument = (finished ? 1u : 0u) | (uint64_t)(unsigned)process << 8;
    int r;

    if (check_process(process))
        return -1;
    if (!ml_recorder_start())
        return 0;
    ml_profile_output_retry(process == MEMLEDGER_SERVER);
    r = ml_request(ML_REQUEST_DUMP, argument, NULL);
    if (r && process == MEMLEDGER_WORKER)
        ml_profile_output_failed();
    else if (process == MEMLEDGER_WORKER && (finished || each_dump_ends))
        ml_profile_output_ended();
    return r;
}

static int check_stats(const char **ret_text, int format, int sort_by)
{
    if (!ret_text)
        return ml_fail("the pointer for the text is NULL");
    if (format != MEMLEDGER_TABLE && format != MEMLEDGER_JSON)
        return ml_fail("bad format: expected 0 (MEMLEDGER_TABLE) or 1 (MEMLEDGER_JSON)");
    if (sort_by < MEMLEDGER_BY_TOTAL || sort_by > MEMLEDGER_BY_COUNT)
        return ml_fail("bad sort key: expected 0 total, 1 avg, 2 min, 3 max, 4 count");
    return 0;
}

int ml_api_stats(const char **ret_text, int reset, int format, int sort_by, int ascending)
{
    uint64_t argument = (reset ? 1u : 0u) | (uint64_t)(unsigned)format << 8 |
                        (uint64_t)(unsigned)sort_by << 16 | (ascending ? 1ull : 0ull) << 24;

    if (check_stats(ret_text, format, sort_by))
        return -1;
    if (!ml_recorder_start()) {
        *ret_text = "";
        return 0;
    }
    return ml_request(ML_REQUEST_STATS, argument, ret_text);
}

int ml_control_save(uint64_t patience_ns, const char **ret_path)
{
    if (ml_recorder_start())
        return ml_request_within(patience_ns, ML_REQUEST_SAVE, 0, ret_path);
    *ret_path = "";
    return 0;
}

const char *ml_api_last_error(void)
{
    int saved_errno = errno;
    const char *text = ml_last_error();

    errno = saved_errno;
    return text;
}
