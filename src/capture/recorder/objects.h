/* objects.h: the table of the program's own objects, under the numbers that the collector knows.
 *
 * An object is announced to the collector before any thread can learn its handle. Forked children
 * inherit the table and announce it again under the same numbers. A handle consists of the object's
 * number and, in its high half, the number of times that this number was destroyed: a destroyed
 * handle stays invalid when its number is reused.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_OBJECTS_H
#define ML_OBJECTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The state of a task, frame or event. */
enum ml_run_state {
    ML_IDLE,
    ML_RUNNING,         /* its start was recorded */
    ML_RUNNING_UNKNOWN, /* started while nothing was recorded */
};

struct ml_user_object {
    uint32_t kind;               /* enum memledger_object_kind */
    uint32_t domain;             /* the domain's number, 0: none */
    uint32_t name;               /* string number */
    uint32_t next_free;          /* in the same list, 0: the last */
    _Atomic uint32_t generation; /* odd: destroyed */
    _Atomic uint32_t run_state;
    _Atomic int64_t value; /* of a counter */
    /* The collector does not know `value`: send the whole value the next time. */
    _Atomic bool value_unsent;
};

/* Creates an object, its handle in *ret. False when there is no room for more (a million objects).
 * Async-signal-safe, like all functions here. */
bool ml_objects_create(uint32_t kind, uint32_t domain, uint32_t name, uint64_t *ret);

/* Releases the number for an object of the same kind, domain and name. False when it is destroyed
 * already. */
bool ml_objects_destroy(uint64_t handle);

/* NULL for a handle that was never assigned or is destroyed. */
struct ml_user_object *ml_objects_get(uint64_t handle);

static inline uint32_t ml_object_number(uint64_t handle)
{
    return (uint32_t)handle;
}

/* Call in a forked child, before its first other record, after the names. */
void ml_objects_announce(void);

#endif
