/* objects.c: see objects.h.
 *
 * A lookup takes no lock: entries are reserved at full size, never move, and are complete before
 * the count covers them. Destroyed objects wait in short lists by kind, domain and name, so that a
 * program which creates and destroys a task in every step uses one number for all of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "objects.h"

#include "address_room.h"
#include "memledger/memledger.h"
#include "owner_lock.h"
#include "record.h"
#include "recorder.h"
#include "sys.h"

/* An upper limit: in little address space the table has fewer. */
#define OBJECTS_MAX (1u << 20)
#define OBJECTS_LEAST (1u << 6)
#define LISTS (1u << 12)

static struct ml_user_object *objects; /* by number; number 0 is not used */
static uint32_t objects_max;
static _Atomic uint32_t count;
static uint32_t lists[LISTS]; /* first free object of each list, 0: none */
static struct ml_owner_lock objects_lock;

/* Handles count from generation 0: even ones are alive. */
static uint64_t handle_of(uint32_t number, uint32_t generation)
{
    return (uint64_t)(generation / 2) << 32 | number;
}

static uint32_t *list_of(uint32_t kind, uint32_t domain, uint32_t name)
{
    return &lists[(kind + 31 * domain + 1021 * name) % LISTS];
}

static bool reserve(void)
{
    if (!objects) /* published by `count` */
        objects = ml_address_table(OBJECTS_MAX, OBJECTS_LEAST, sizeof(*objects), &objects_max);
    return objects;
}

static void announce(uint32_t number)
{
    const struct ml_user_object *o = &objects[number];
    uint64_t words[] = {ml_record_word(ML_REC_OBJECT, 0, ml_now()), ml_pair(number, o->kind),
                        ml_pair(o->domain, o->name)};

    ml_record(words, 3);
}

/* Takes a destroyed object of the same description out of its list. The list is consistent after
 * each store, for a child that is forked in between. */
static uint32_t reuse(uint32_t kind, uint32_t domain, uint32_t name)
{
    for (uint32_t *at = list_of(kind, domain, name); *at; at = &objects[*at].next_free) {
        struct ml_user_object *o = &objects[*at];
        uint32_t number = *at;
        if (o->kind != kind || o->domain != domain || o->name != name)
            continue;
        *at = o->next_free;
        o->run_state = ML_IDLE;
        o->value = 0;
        o->value_unsent = true;
        /* Pairs with the acquire load in ml_objects_get: the object is as good as new. */
        atomic_fetch_add_explicit(&o->generation, 1, memory_order_release);
        return number;
    }
    return 0;
}

static uint32_t add(uint32_t kind, uint32_t domain, uint32_t name)
{
    uint32_t number = atomic_load_explicit(&count, memory_order_relaxed) + 1;
    struct ml_user_object *o;

    if (!reserve() || number == objects_max) {
        ml_recorder_cannot_follow();
        return 0;
    }
    o = &objects[number];
    o->kind = kind;
    o->domain = domain;
    o->name = name;
    announce(number);
    /* Pairs with the acquire load in ml_objects_get. */
    atomic_store_explicit(&count, number, memory_order_release);
    return number;
}

bool ml_objects_create(uint32_t kind, uint32_t domain, uint32_t name, uint64_t *ret)
{
    uint32_t number = 0;
    struct ml_quiet quiet;

    ml_quiet_begin(&quiet);
    if (ml_owner_lock(&objects_lock)) {
        number = reuse(kind, domain, name);
        if (!number)
            number = add(kind, domain, name);
        if (number)
            *ret = handle_of(number, objects[number].generation);
        ml_owner_unlock(&objects_lock);
    }
    ml_quiet_end(&quiet);
    return number;
}

struct ml_user_object *ml_objects_get(uint64_t handle)
{
    uint32_t number = ml_object_number(handle);
    struct ml_user_object *o;

    if (!number || number > atomic_load_explicit(&count, memory_order_acquire))
        return NULL;
    o = &objects[number];
    if (atomic_load_explicit(&o->generation, memory_order_acquire) != 2 * (handle >> 32))
        return NULL;
    return o;
}

static void put_on_list(struct ml_user_object *o, uint32_t number)
{
    uint32_t *list = list_of(o->kind, o->domain, o->name);

    atomic_fetch_add_explicit(&o->generation, 1, memory_order_relaxed);
    o->next_free = *list;
    *list = number;
}

bool ml_objects_destroy(uint64_t handle)
{
    struct ml_user_object *o = NULL;
    struct ml_quiet quiet;

    ml_quiet_begin(&quiet);
    if (ml_owner_lock(&objects_lock)) {
        o = ml_objects_get(handle);
        if (o)
            put_on_list(o, ml_object_number(handle));
        ml_owner_unlock(&objects_lock);
    }
    ml_quiet_end(&quiet);
    return o;
}

void ml_objects_announce(void)
{
    uint32_t n = atomic_load_explicit(&count, memory_order_acquire);

    for (uint32_t i = 1; i <= n; i++) {
        announce(i);
        atomic_store_explicit(&objects[i].value_unsent, true, memory_order_relaxed);
    }
}
