/* objects.h: the table of the program's own objects, as the collector knows
 * them.
 *
 * An object is announced to the collector before any thread can learn its
 * handle. The table is inherited by forked children, which announce it again
 * under the same numbers. A handle is the object's number and, in its high
 * half, how often that number was destroyed: a handle that was destroyed stays
 * invalid when its number is given out again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_OBJECTS_H
#define ML_OBJECTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Where a task, frame or event stands. */
enum ml_run_state {
    ML_IDLE,
    ML_RUNNING,         /* its start was recorded */
    ML_RUNNING_UNKNOWN, /* started while nothing was recorded */
};

struct ml_user_object {
    uint32_t kind;               /* enum memledger_object_kind */
    uint32_t domain;             /* the domain's number, 0: none */
    uint32_t name;               /* string number */
    uint32_t next_free;          /* of the same list, 0: the last */
    _Atomic uint32_t generation; /* odd: destroyed */
    _Atomic uint32_t run_state;
    _Atomic int64_t value; /* a counter's */
    /* The collector does not know `value`: send it whole the next time. */
    _Atomic bool value_unsent;
};

/* A new object, its handle in *ret. False when there is no room for more (a
 * million objects). Async-signal-safe, as all functions here. */
bool ml_objects_create(uint32_t kind, uint32_t domain, uint32_t name, uint64_t *ret);

/* Gives the number back for an object of the same kind, domain and name. False
 * when it is destroyed already. */
bool ml_objects_destroy(uint64_t handle);

/* NULL for a handle that was never given or is destroyed. */
struct ml_user_object *ml_objects_get(uint64_t handle);

static inline uint32_t ml_object_number(uint64_t handle)
{
    return (uint32_t)handle;
}

/* In a forked child, before its first other record, after the names. */
void ml_objects_announce(void);

#endif
