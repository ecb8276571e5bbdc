/* calls.h: which calls of modules and phases are open. Each push of such a scope is a call.
 * It takes down the number of the next allocation (classify.h), so that of a block, which
 * knows its number, scope and thread, can be told later whether the call has returned that
 * it was born in.
 *
 * Scopes of a backward pass come without a push and lie beside what the thread has
 * pushed. Pushes and pops that were lost are noticed by the next one, whose scope
 * says where the thread is.
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
    bool is_call; /* else of no interest */
};

struct ml_call_stack {
    ML_VEC(struct ml_call_entry) open;
};

/* All zero bytes, but for the trace, is one without calls. */
struct ml_calls {
    const struct ml_trace *trace;
    ML_VEC(struct ml_call_stack) threads;
    struct ml_map thread_index;       /* number -> index */
    uint32_t last_number, last_index; /* found last; index + 1 */
};

void ml_calls_release(struct ml_calls *calls);

/* A push, a pop or a thread's end; the next allocation has that ordinal.
 * @return 0 or -ENOMEM */
int ml_calls_push(struct ml_calls *calls, const struct ml_event *event, uint64_t next_ordinal);
int ml_calls_pop(struct ml_calls *calls, const struct ml_event *event);
int ml_calls_end(struct ml_calls *calls, const struct ml_event *event);

/* Whether the thread, which is in `inner`, is in a call of `outer`, which is `inner` or
 * around it. False where the beginning of the call is not in the trace. */
bool ml_calls_within(struct ml_calls *calls, uint32_t thread, uint32_t inner, uint32_t outer);

/* Whether the thread's call of `scope` in which the block of that ordinal was allocated, so
 * that ml_calls_within() was true then, is still open. */
bool ml_calls_goes_on(struct ml_calls *calls, uint32_t thread, uint32_t scope, uint64_t ordinal);

#endif
