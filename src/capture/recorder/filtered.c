/* filtered.c: see filtered.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "filtered.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

_Atomic uint32_t ml_filtered;
_Atomic(_Atomic uint32_t *) ml_filtered_in_set = &ml_filtered;
__thread bool ml_thread_strict;
_Atomic int32_t ml_threads_calling;
__thread int32_t ml_calling_depth;

/* A mutex stores the id of the thread that locked it. No other thread sees this one, so none waits.
 */
uint32_t ml_thread_id(void)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    int owner;

    if (ml_calls_begin()) {
        owner = (int)syscall(SYS_gettid);
        ml_calls_end();
        return (uint32_t)owner;
    }
    pthread_mutex_lock(&mutex);
    owner = mutex.__data.__owner;
    pthread_mutex_unlock(&mutex);
    return (uint32_t)owner;
}
