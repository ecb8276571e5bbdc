/* calls.h: the open calls of modules and phases. Each push of such a scope is a call. A call
 * stores the number of the next allocation (classify.h). A block has its number, scope and
 * thread, which are enough to decide later whether the call that allocated it has returned.
 *
 * Scopes of a backward pass have no push and are separate from the scopes that the thread pushed.
 * Lost pushes and pops show at the next one, whose scope says where the thread is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_CALLS_H
#define ML_ANALYZE_CALLS_H

#include <stdbool.h>

#include "event.h"
#include "map.h"
#include "trace.h"
#include "vec.h"

struct ml_call_entry {
    uint64_t next_ordinal; /* when it began */
    uint32_t scope;
    bool is_call; /* else ignored */
};

struct ml_call_stack {
    ML_VEC(struct ml_call_entry) open;
};

/* All zero bytes, except for the trace, is a valid one without calls. */
struct ml_calls {
    const struct ml_trace *trace;
    ML_VEC(struct ml_call_stack) threads;
    struct ml_map thread_index;       /* number -> index */
    uint32_t last_number, last_index; /* the latest lookup; index + 1 */
};

void ml_calls_release(struct ml_calls *calls);

/* A push, a pop or a thread's end; `next_ordinal` is that of the next allocation.
 * @return 0 or -ENOMEM */
int ml_calls_push(struct ml_calls *calls, const struct ml_event *event, uint64_t next_ordinal);
int ml_calls_pop(struct ml_calls *calls, const struct ml_event *event);
int ml_calls_end(struct ml_calls *calls, const struct ml_event *event);

/* Whether the thread, which is in `inner`, is in a call of `outer`, which is `inner` or around
 * it. False if the trace does not contain the start of the call. */
bool ml_calls_within(struct ml_calls *calls, uint32_t thread, uint32_t inner, uint32_t outer);

/* Whether the thread's call of `scope` that allocated the block of that ordinal is still open.
 * ml_calls_within() was true at the allocation. */
bool ml_calls_goes_on(struct ml_calls *calls, uint32_t thread, uint32_t scope, uint64_t ordinal);

#endif
