/* narrow.c: see narrow.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "narrow.h"

#include <errno.h>

#include "instant.h"

int ml_check_process(const struct ml_trace *trace, uint32_t pid, struct ml_error *err)
{
    for (uint32_t i = 0; pid && i < ml_trace_processes(trace); i++)
        if (ml_trace_process(trace, i)->pid == pid)
            return 0;
    return pid ? ml_error_set(err, -ENOENT,
                              "there is no process %u in this trace; memledger summary lists them",
                              pid)
               : 0;
}

static int check_device(const struct ml_trace *trace, const char *device, struct ml_error *err)
{
    struct ml_replay replay;
    int64_t unused;
    int r = ml_replay_init(&replay, trace);

    r = r < 0 ? ml_error_set(err, r, "out of memory")
              : ml_instant_device(&replay, device, &unused, err);
    ml_replay_release(&replay);
    return r;
}

int ml_narrow(const struct ml_trace *trace, const char *device, uint32_t pid,
              struct ml_level_caps *ret, struct ml_error *err)
{
    int r = device ? check_device(trace, device, err) : 0;

    if (r == 0)
        r = ml_check_process(trace, pid, err);
    ret->only_device = device;
    ret->only_pid = pid;
    return r;
}
