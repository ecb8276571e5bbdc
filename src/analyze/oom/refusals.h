/* refusals.h: the allocations of a run that failed because memory ran out.
 *
 * One failure may be reported several times: the driver refuses, the allocator frees its cache,
 * is refused again, and then fails itself. Only the last report stands. If the driver refuses and
 * the same thread then gets as much from it, the allocator recovered: the program noticed
 * nothing.
 *
 * A process that the kernel kills to keep the memory limit of its control group is refused nothing.
 * It counts as a refusal at its end, of its last allocation on the host: the kernel kills when
 * pages are first written to.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_REFUSALS_H
#define ML_ANALYZE_REFUSALS_H

#include "trace.h"
#include "vec.h"

enum ml_refusal_state {
    ML_REFUSAL_STANDS,
    ML_REFUSAL_REPEATED,  /* a later one reports the same failure */
    ML_REFUSAL_RECOVERED, /* the thread got it in the end */
};

struct ml_refusal {
    uint64_t number;  /* as in --at oom:2, on the requested device */
    uint64_t overall; /* on all devices */
    uint64_t event;   /* number of events up to and including it */
    uint64_t time_ns;
    uint64_t bytes;
    uint64_t driver_bytes; /* refused by the driver for it; 0: not recorded */
    uint32_t thread, space, scope, stack;
    enum ml_refusal_state state;
    bool killed; /* by the kernel; bytes, scope and stack are those of its last allocation */
};

struct ml_refusals {
    ML_VEC(struct ml_refusal) list; /* in order, in any state */
    uint64_t standing, recovered;
};

/* Reads the trace once.
 * @device  only there, as in ml_instant_find; NULL: anywhere
 * @pid     only of this process; 0: of any
 * @ret     to be released, after a failure too
 * @return 0 or negative errno */
int ml_refusals(const struct ml_trace *trace, const char *device, uint32_t pid,
                struct ml_refusals *ret, struct ml_error *err);
void ml_refusals_release(struct ml_refusals *refusals);

#endif
