/* given_names.c: see given_names.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "given_names.h"

#include "record.h"
#include "recorder.h"

static __thread struct ml_given_name thread_name;
static struct ml_given_name process_role;
static struct ml_given_place process_place;

void ml_give_thread_name(const char *text)
{
    struct ml_ring *ring = ml_writer->ring;

    ml_given_name_put(&thread_name, text);
    if (ring)
        ml_given_name_put(&ring->given, text);
}

void ml_give_process_role(const char *text)
{
    struct ml_ringset *set = ml_recorder_first_set();

    ml_given_name_put(&process_role, text);
    if (set)
        ml_given_name_put(&set->role, text);
}

void ml_give_process_place(const char *text)
{
    struct ml_ringset *set = ml_recorder_first_set();

    ml_given_place_put(&process_place, text);
    if (set)
        ml_given_place_put(&set->place, text);
}

/* The ring may have been another thread's, of which the collector knows how often it was named. */
void ml_given_to_ring(struct ml_ring *ring)
{
    atomic_store_explicit(&ring->given.times, 0, memory_order_relaxed);
    if (thread_name.times)
        ml_given_name_put(&ring->given, thread_name.text);
}

void ml_given_to_set(struct ml_ringset *set)
{
    if (process_role.times)
        ml_given_name_put(&set->role, process_role.text);
    if (process_place.times)
        ml_given_place_put(&set->place, process_place.text);
}
