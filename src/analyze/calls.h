/* calls.h: which calls of modules and phases are open. Each push of such a scope is
 * a call with a number of its own; the number outlives the call, so that whoever was
 * born in it can ask later whether it has returned, from any thread.
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
    uint32_t scope;
    uint32_t call; /* 0: of no interest */
};

struct ml_call_stack {
    ML_VEC(struct ml_call_entry) open;
};

/* All zero bytes, but for the trace, is one without calls. */
struct ml_calls {
    const struct ml_trace *trace;
    ML_VEC(struct ml_call_stack) threads;
    ML_VEC(uint8_t) returned;         /* by call - 1 */
    struct ml_map thread_index;       /* number -> index */
    uint32_t last_number, last_index; /* found last; index + 1 */
};

void ml_calls_release(struct ml_calls *calls);

/* A push, a pop or a thread's end. @return 0 or -ENOMEM */
int ml_calls_push(struct ml_calls *calls, const struct ml_event *event);
int ml_calls_pop(struct ml_calls *calls, const struct ml_event *event);
int ml_calls_end(struct ml_calls *calls, const struct ml_event *event);

/* A call without a scope. @return its number, 0: there are too many, or -ENOMEM */
int64_t ml_calls_begin(struct ml_calls *calls);
void ml_calls_return(struct ml_calls *calls, uint32_t call);

/* The open call of `outer`, which is `inner` or around it, by the thread that is in
 * `inner`; 0: not known. */
uint32_t ml_calls_find(struct ml_calls *calls, uint32_t thread, uint32_t inner, uint32_t outer);

/* Of call 0 nobody saw the beginning; it counts as returned. */
static inline bool ml_call_has_returned(const struct ml_calls *calls, uint32_t call)
{
    return call == 0 || calls->returned.items[call - 1];
}

#endif
