/* profile_output.c: see profile_output.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "profile_output.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config_keys.h"
#include "filtered.h"
#include "names.h"
#include "recorder.h"
#include "request.h"
#include "ring.h"
#include "session_files.h"

#define RANK_BYTES 16 /* for "rank4294967295_" */

/* The state of this process's own profile. */
enum {
    OUTPUT = 1, /* from a run to the dump that ends the file */
    GIVEN = 2,  /* the collector has the file */
    FAILED = 4, /* the file could not be opened or passed on */
    FLAGS = 7,
};
static _Atomic uint64_t own_state; /* owner, see below; and flags */

/* Strings; 0: the default, which is computed when it is first needed. */
static _Atomic uint32_t own_name, servers_name, default_name;

/* A forked child and a recording that is joined later begin without a file. In a sandbox a process
 * cannot ask for its pid, and its children have no profile. */
static uint64_t whose(void)
{
    if (!ml_calls_allowed())
        return atomic_load_explicit(&own_state, memory_order_relaxed) & ~(uint64_t)FLAGS;
    return (uint64_t)getpid() << 32 | (uint64_t)ml_recorder_recording() << 8;
}

static uint32_t own_flags(void)
{
    uint64_t state = atomic_load_explicit(&own_state, memory_order_relaxed);
    uint64_t me = whose();

    if ((state & ~(uint64_t)FLAGS) == me)
        return (uint32_t)(state & FLAGS);
    atomic_store_explicit(&default_name, 0, memory_order_relaxed);
    atomic_store_explicit(&own_state, me, memory_order_relaxed);
    return 0;
}

static void set_own_flags(uint32_t flags)
{
    atomic_store_explicit(&own_state, whose() | flags, memory_order_relaxed);
}

uint32_t ml_profile_output_name(const char *value)
{
    char path[ML_NAME_MAX_BYTES + 1];
    size_t value_len = strlen(value);
    size_t dir_len;

    if (value[0] == '/' || !ml_calls_allowed() || !getcwd(path, sizeof(path)) || path[0] != '/')
        return ml_name_kept(value);
    dir_len = strlen(path);
    if (dir_len + 1 + value_len >= sizeof(path))
        return ml_name_kept(value);
    path[dir_len] = '/';
    memcpy(path + dir_len + 1, value, value_len + 1);
    return ml_name_kept(path);
}

static uint32_t name_of(_Atomic uint32_t *name)
{
    uint32_t number = atomic_load_explicit(name, memory_order_relaxed);

    if (!number)
        number = atomic_load_explicit(&default_name, memory_order_relaxed);
    if (!number) {
        number = ml_profile_output_name(ml_config_keys[ML_CONFIG_FILENAME].default_value);
        atomic_store_explicit(&default_name, number, memory_order_relaxed);
    }
    return number;
}

/* ---- Passing on ------------------------------------------------------------- */

static void record_file(uint32_t server, uint32_t number, uint32_t name, int error)
{
    uint64_t words[] = {ml_record_word(ML_REC_FILE, 0, ml_now()), ml_pair(server, number),
                        ml_pair(name, (uint64_t)error)};

    ml_record(words, 3);
}

/* @return whether the collector has it now */
static bool give(const char *path, uint32_t server)
{
    uint32_t number = 0;
    int saved_errno = errno;
    int cancel_state, error;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    error = ml_session_hand_file(path, &number);
    pthread_setcancelstate(cancel_state, NULL);
    record_file(server, number, ml_name_kept(path), error);
    errno = saved_errno;
    return !error;
}

static void copy_name(uint32_t name, char path[ML_NAME_MAX_BYTES + 1])
{
    uint32_t len;
    const char *text = ml_name_text(name, &len);

    memcpy(path, text, len);
    path[len] = '\0';
}

static void give_own(void)
{
    char path[ML_NAME_MAX_BYTES + 1];

    copy_name(name_of(&own_name), path);
    set_own_flags(OUTPUT | (give(path, 0) ? GIVEN : FAILED));
}

/* ---- Servers ------------------------------------------------------------ */

/* "folder/rank3_name": each server has its own file, named as MXNet's servers name theirs. */
static void give_server(uint32_t rank)
{
    char name[ML_NAME_MAX_BYTES + 1], path[sizeof(name) + RANK_BYTES];
    char *last;

    copy_name(name_of(&servers_name), name);
    last = strrchr(name, '/');
    last = last ? last + 1 : name;
    snprintf(path, sizeof(path), "%.*srank%u_%s", (int)(last - name), name, rank, last);
    give(path, rank + 1);
}

/* The collector knows the servers. A server may do nothing for hours, so this process, which names
 * the files, opens them. */
static void give_servers(bool all)
{
    const char *text = "";
    uint32_t rank = 0;

    if (ml_request(ML_REQUEST_FILES, all, &text))
        return;
    for (; *text; text++) {
        if (*text >= '0' && *text <= '9') {
            rank = 10 * rank + (uint32_t)(*text - '0');
        } else {
            give_server(rank);
            rank = 0;
        }
    }
}

/* ---- When --------------------------------------------------------------- */

void ml_profile_output_named(uint32_t name, bool servers)
{
    _Atomic uint32_t *kept = servers ? &servers_name : &own_name;
    uint32_t flags = own_flags();
    uint32_t before = name_of(kept);

    atomic_store_explicit(kept, name, memory_order_relaxed);
    if (servers)
        give_servers(false);
    else if (name != before && flags & OUTPUT)
        give_own();
}

/* A worker may have ended the file of a server: other processes know that their file is still open.
 */
static bool is_server(void)
{
    const char *role = getenv("DMLC_ROLE");

    return role && !strcmp(role, "server");
}

void ml_profile_output_run(bool servers)
{
    uint32_t flags = own_flags();

    if (servers)
        give_servers(true);
    else if (!(flags & GIVEN) || is_server())
        give_own();
}

void ml_profile_output_retry(bool servers)
{
    uint32_t flags = own_flags();

    if (servers)
        give_servers(false);
    else if (flags & FAILED)
        give_own();
}

void ml_profile_output_ended(void)
{
    set_own_flags(0);
}

void ml_profile_output_failed(void)
{
    if (own_flags() & OUTPUT)
        set_own_flags(OUTPUT | FAILED);
}
