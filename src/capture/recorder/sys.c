/* sys.c: see sys.h and filtered.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sys.h"

#include <stdarg.h>

#define SAID_BYTES 1024

#define BIT_OF(signal) ((uint64_t)1 << ((signal)-1))
/* Programs ignore these by default, or use them only to count: a late reaction does no harm. */
#define UNHURRIED                                                                                  \
    (BIT_OF(SIGCHLD) | BIT_OF(SIGCONT) | BIT_OF(SIGURG) | BIT_OF(SIGWINCH) | BIT_OF(SIGPROF))

_Atomic uint32_t ml_filtered;
_Atomic(_Atomic uint32_t *) ml_filtered_in_set = &ml_filtered;
__thread bool ml_thread_strict;
_Atomic int32_t ml_threads_calling;
__thread int32_t ml_calling_depth;

__thread uint64_t ml_signals_of_program = ML_NO_SIGNALS_HELD;

bool ml_sys_signal_waits(void)
{
    uint64_t held = ~ml_signals_of_program & ~UNHURRIED;
    uint64_t pending = 0;

    return held && ml_calls_allowed() && !syscall(SYS_rt_sigpending, &pending, sizeof(pending)) &&
           pending & held;
}

/* Writes once, so that no other output comes between the parts. */
void ml_sys_say_parts(const char *first, ...)
{
    int saved_errno = errno;
    char text[SAID_BYTES];
    size_t len = 0;
    va_list parts;

    va_start(parts, first);
    for (const char *part = first; part; part = va_arg(parts, const char *)) {
        for (; *part && len < sizeof(text); part++)
            text[len++] = *part;
    }
    va_end(parts);
    if (ml_calls_begin()) {
        syscall(SYS_write, (long)STDERR_FILENO, text, len);
        ml_calls_end();
    }
    errno = saved_errno;
}

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
