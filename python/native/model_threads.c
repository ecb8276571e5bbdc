/* model_threads.c: see model_threads.h. Python's lock protects the count.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "model_threads.h"

static uint64_t threads;
static __thread uint64_t this_thread;

uint64_t ml_model_thread(void)
{
    if (!this_thread)
        this_thread = ++threads;
    return this_thread;
}

bool ml_model_threads_are_several(void)
{
    return threads > 1;
}
