/* api_objects.c: operations on tasks, counters and markers.
 *
 * A handle is checked first, so that a wrong call fails even while nothing is recorded; in a
 * process that is not recorded at all calls do nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "api_objects.h"

#include <errno.h>
#include <string.h>

#include "api_control.h"
#include "api_error.h"
#include "names.h"
#include "objects.h"
#include "recorder.h"

static const char *const kind_names[] = {
    [MEMLEDGER_DOMAIN] = "a domain",   [MEMLEDGER_TASK] = "a task",
    [MEMLEDGER_FRAME] = "a frame",     [MEMLEDGER_EVENT] = "an event",
    [MEMLEDGER_COUNTER] = "a counter",
};

static int bad_handle(void)
{
    return ml_fail("the handle is not an object, or the object is destroyed");
}

static int wrong_kind(const struct ml_user_object *o, const char *wanted)
{
    return ml_fail("the handle is ", kind_names[o->kind], "; this call needs ", wanted);
}

/* A record about one object, with or without one more word. */
static void record(unsigned kind, memledger_object object, const uint64_t *value)
{
    uint64_t words[] = {ml_record_word(kind, 0, ml_now()), ml_object_number(object),
                        value ? *value : 0};

    ml_record(words, value ? 3 : 2);
}

/* ---- Creating and destroying ------------------------------------------------ */

/* The domain's number; 0 with an error if the handle is not a domain. */
static uint32_t domain_number(memledger_object domain)
{
    const struct ml_user_object *o = ml_objects_get(domain);

    if (!o)
        bad_handle();
    else if (o->kind != MEMLEDGER_DOMAIN)
        wrong_kind(o, "a domain");
    else
        return ml_object_number(domain);
    return 0;
}

static bool check_new(int kind, const char *name)
{
    if (kind < MEMLEDGER_DOMAIN || kind > MEMLEDGER_COUNTER)
        ml_fail("bad kind of object: expected 1 domain, 2 task, 3 frame, 4 event, 5 counter");
    else if (!name)
        ml_fail("the object's name is NULL");
    else
        return true;
    return false;
}

memledger_object ml_api_create(int kind, memledger_object domain, const char *name)
{
    bool in_domain = kind != MEMLEDGER_DOMAIN && kind != MEMLEDGER_EVENT;
    int saved_errno = errno;
    uint32_t parent = 0, string;
    uint64_t handle = 0;

    if (!check_new(kind, name) || !ml_recorder_start())
        return 0;
    if (in_domain)
        parent = domain_number(domain);
    if (in_domain && !parent)
        return 0;
    string = ml_name(name);
    if ((name[0] && !string) || !ml_objects_create((uint32_t)kind, parent, string, &handle))
        ml_fail("no room for another object (a million at a time), or called by a signal handler "
                "that interrupted the recorder");
    errno = saved_errno;
    return handle;
}

int ml_api_destroy(memledger_object object)
{
    struct ml_user_object *o = ml_objects_get(object);
    int saved_errno = errno;
    bool destroyed;

    if (!ml_recorder_start())
        return 0;
    if (!o)
        return bad_handle();
    if (o->kind == MEMLEDGER_DOMAIN)
        return 0;
    destroyed = ml_objects_destroy(object);
    errno = saved_errno;
    return destroyed ? 0 : bad_handle();
}

/* ---- Durations ---------------------------------------------------------- */

static int check_duration(const struct ml_user_object *o)
{
    if (!o)
        return bad_handle();
    if (o->kind != MEMLEDGER_TASK && o->kind != MEMLEDGER_FRAME && o->kind != MEMLEDGER_EVENT)
        return wrong_kind(o, "a task, a frame or an event");
    return 0;
}

int ml_api_start(memledger_object object)
{
    struct ml_user_object *o = ml_objects_get(object);
    bool records = ml_control_records();

    if (!ml_recorder_start())
        return 0;
    if (check_duration(o))
        return -1;
    atomic_store_explicit(&o->run_state, records ? ML_RUNNING : ML_RUNNING_UNKNOWN,
                          memory_order_relaxed);
    if (records)
        record(ML_START, object, NULL);
    return 0;
}

/* An object that was recorded as started is recorded as stopped, even while paused: the trace has
 * no open ends, and the collector keeps it out of the profile. */
int ml_api_stop(memledger_object object)
{
    struct ml_user_object *o = ml_objects_get(object);
    uint32_t was;

    if (!ml_recorder_start())
        return 0;
    if (check_duration(o))
        return -1;
    was = atomic_exchange_explicit(&o->run_state, ML_IDLE, memory_order_relaxed);
    if (was == ML_IDLE)
        return ml_fail("cannot stop ", kind_names[o->kind], " that is not started");
    if (was == ML_RUNNING)
        record(ML_STOP, object, NULL);
    return 0;
}

/* ---- Counters ----------------------------------------------------------- */

static int check_counter(const struct ml_user_object *o)
{
    if (!o)
        return bad_handle();
    if (o->kind != MEMLEDGER_COUNTER)
        return wrong_kind(o, "a counter");
    return 0;
}

int ml_api_counter_set(memledger_object object, uint64_t value)
{
    struct ml_user_object *o = ml_objects_get(object);
    bool records = ml_control_records();

    if (!ml_recorder_start())
        return 0;
    if (check_counter(o))
        return -1;
    if (value > INT64_MAX)
        return ml_fail("a counter goes up to 9223372036854775807 (2^63 - 1)");
    atomic_store_explicit(&o->value, (int64_t)value, memory_order_relaxed);
    atomic_store_explicit(&o->value_unsent, !records, memory_order_relaxed);
    if (records)
        record(ML_REC_COUNTER_SET, object, &value);
    return 0;
}

/* Sends differences, so that threads that adjust concurrently need not agree on an order.
 * Adjustments made while paused count, though they are not recorded: the next one sends the whole
 * value. */
int ml_api_counter_adjust(memledger_object object, int64_t delta)
{
    struct ml_user_object *o = ml_objects_get(object);
    uint64_t difference = (uint64_t)delta;
    uint64_t value;

    if (!ml_recorder_start())
        return 0;
    if (check_counter(o))
        return -1;
    value =
        (uint64_t)atomic_fetch_add_explicit(&o->value, delta, memory_order_relaxed) + difference;
    if (!ml_control_records())
        atomic_store_explicit(&o->value_unsent, true, memory_order_relaxed);
    else if (atomic_exchange_explicit(&o->value_unsent, false, memory_order_relaxed))
        record(ML_REC_COUNTER_SET, object, &value);
    else
        record(ML_REC_COUNTER_ADJUST, object, &difference);
    return 0;
}

/* ---- Markers ------------------------------------------------------------ */

static int check_marker(const char *name, const char *scope)
{
    static const char *const scopes[] = {"global", "process", "thread", "task", "marker"};

    if (!name || !scope)
        return ml_fail("the marker's name or scope is NULL");
    for (size_t i = 0; i < ML_ARRAY_SIZE(scopes); i++) {
        if (!strcmp(scope, scopes[i]))
            return 0;
    }
    return ml_fail("bad scope \"", scope,
                   "\" of a marker: expected global, process, thread, task or marker");
}

int ml_api_marker(memledger_object domain, const char *name, const char *scope)
{
    uint32_t number;

    if (!ml_recorder_start())
        return 0;
    number = domain_number(domain);
    if (!number || check_marker(name, scope))
        return -1;
    if (ml_control_records()) {
        uint64_t names = ml_pair(number, ml_name(name));
        uint64_t words[] = {ml_record_word(ML_MARKER, 0, ml_now()), names, ml_name(scope)};
        ml_record(words, 3);
    }
    return 0;
}
