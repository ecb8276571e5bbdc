/* try_calls.c: see try_calls.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "try_calls.h"

#include <unistd.h>

#include "compiler.h"
#include "recorder_calls.h"

/* No descriptor, no address, no process: the kernel refuses such a call once the filters have
 * let it through. */
#define NOTHING (-1L)

static long arg(const struct ml_recorder_call *call, int i)
{
    return call->known >> i & 1 ? (long)call->args[i] : NOTHING;
}

void ml_try_recorder_calls(void)
{
    for (size_t i = 0; i < ML_ARRAY_SIZE(ml_recorder_calls); i++) {
        const struct ml_recorder_call *call = &ml_recorder_calls[i];
        long result = syscall((long)call->number, arg(call, 0), arg(call, 1), arg(call, 2),
                              arg(call, 3), NOTHING, NOTHING);

        if (call->number == SYS_socket && result >= 0)
            close((int)result);
    }
}
