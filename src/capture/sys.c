/* sys.c: see sys.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sys.h"

#define BIT_OF(signal) ((uint64_t)1 << ((signal)-1))
/* Programs ignore these by default, or only count with them: nobody waits for an answer. */
#define UNHURRIED                                                                                  \
    (BIT_OF(SIGCHLD) | BIT_OF(SIGCONT) | BIT_OF(SIGURG) | BIT_OF(SIGWINCH) | BIT_OF(SIGPROF))

__thread uint64_t ml_signals_of_program = ML_NO_SIGNALS_HELD;

bool ml_sys_signal_waits(void)
{
    uint64_t held = ~ml_signals_of_program & ~UNHURRIED;
    uint64_t pending = 0;

    return held && ml_calls_allowed() && !syscall(SYS_rt_sigpending, &pending, sizeof(pending)) &&
           pending & held;
}
