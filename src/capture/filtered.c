/* filtered.c: see filtered.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "filtered.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

_Atomic uint32_t ml_filtered;
_Atomic(_Atomic uint32_t *) ml_filtered_there = &ml_filtered;
__thread bool ml_thread_strict;

/* A mutex remembers the thread that locked it. No other thread sees this one, so none waits. */
uint32_t ml_thread_id(void)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    int owner;

    if (ml_calls_allowed())
        return (uint32_t)syscall(SYS_gettid);
    pthread_mutex_lock(&mutex);
    owner = mutex.__data.__owner;
    pthread_mutex_unlock(&mutex);
    return (uint32_t)owner;
}
