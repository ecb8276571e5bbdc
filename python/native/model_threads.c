/* model_threads.c: see model_threads.h. Python's lock protects the counts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "model_threads.h"

static uint64_t numbered, training;
static __thread uint64_t this_thread;
static __thread bool trains;

uint64_t ml_model_thread(void)
{
    if (!this_thread)
        this_thread = ++numbered;
    return this_thread;
}

void ml_model_thread_trains(void)
{
    training += !trains;
    trains = true;
}

bool ml_model_threads_are_several(void)
{
    return training > 1;
}
