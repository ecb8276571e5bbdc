/* refusals.h: the allocations of a run that were refused for want of memory.
 *
 * One failure may be told several times: the driver refuses, the allocator gives back
 * what it has cached, is refused again, and then refuses itself. Only the last of these
 * stands. A refusal by the driver after which the same thread gets as much from it was
 * recovered from: the program saw nothing of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_REFUSALS_H
#define ML_ANALYZE_REFUSALS_H

#include "trace.h"
#include "vec.h"

enum ml_refusal_state {
    ML_REFUSAL_STANDS,
    ML_REFUSAL_REPEATED,  /* a later one tells the same failure */
    ML_REFUSAL_RECOVERED, /* the thread got it in the end */
};

struct ml_refusal {
    uint64_t number;  /* as in --at oom:2, on the device that was asked for */
    uint64_t overall; /* on all devices */
    uint64_t event;   /* events up to and with it */
    uint64_t time_ns;
    uint64_t bytes;
    uint64_t driver_bytes; /* what the driver refused for it; 0: not recorded */
    uint32_t thread, space, scope, stack;
    enum ml_refusal_state state;
};

struct ml_refusals {
    ML_VEC(struct ml_refusal) list; /* in order, of every state */
    uint64_t standing, recovered;
};

/* Reads the trace once.
 * @device  only there, as in ml_instant_find; NULL: anywhere
 * @ret     to be released, after a failure too
 * @return 0 or negative errno */
int ml_refusals(const struct ml_trace *trace, const char *device, struct ml_refusals *ret,
                struct ml_error *err);
void ml_refusals_release(struct ml_refusals *refusals);

#endif
