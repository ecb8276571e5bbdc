/* calls.c: see calls.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "calls.h"

#include "memledger/memledger.h"

#define DEPTH_MAX 4096 /* the format's limit */

void ml_calls_release(struct ml_calls *calls)
{
    for (size_t i = 0; i < calls->threads.len; i++)
        ml_vec_release(&calls->threads.items[i].open);
    ml_vec_release(&calls->threads);
    ml_map_release(&calls->thread_index);
    *calls = (struct ml_calls){0};
}

static struct ml_call_stack *stack_of(struct ml_calls *c, uint32_t thread)
{
    uint64_t index;

    if (c->last_index == 0 || c->last_number != thread) {
        if (!ml_map_get(&c->thread_index, thread, &index)) {
            index = c->threads.len;
            if (ml_vec_push(&c->threads, (struct ml_call_stack){0}) < 0 ||
                ml_map_put(&c->thread_index, thread, index) < 0)
                return NULL;
        }
        c->last_number = thread;
        c->last_index = (uint32_t)index + 1;
    }
    return &c->threads.items[c->last_index - 1];
}

/* The thread is in `scope`, so it has left the scopes above it on the stack. A scope that was
 * never pushed belongs to a backward pass and changes nothing. */
static void settle(struct ml_call_stack *stack, uint32_t scope)
{
    size_t len = stack->open.len;

    while (scope != 0 && len > 0 && stack->open.items[len - 1].scope != scope)
        len--;
    if (scope == 0 || len > 0)
        stack->open.len = scope == 0 ? 0 : len;
}

static bool is_at(const struct ml_call_stack *stack, uint32_t scope)
{
    return stack->open.len > 0 && stack->open.items[stack->open.len - 1].scope == scope;
}

int ml_calls_push(struct ml_calls *c, const struct ml_event *event, uint64_t next_ordinal)
{
    const struct ml_scope *scope = ml_trace_scope(c->trace, event->scope);
    struct ml_call_stack *stack = stack_of(c, event->thread);

    if (!stack)
        return -ENOMEM;
    settle(stack, scope->parent);
    if (stack->open.len >= DEPTH_MAX)
        return 0; /* no real program is that deep; the matching pop does nothing */
    return ml_vec_push(&stack->open, (struct ml_call_entry){
                                         .next_ordinal = next_ordinal,
                                         .scope = event->scope,
                                         .is_call = scope->kind == MEMLEDGER_SCOPE_MODULE ||
                                                    scope->kind == MEMLEDGER_SCOPE_PHASE,
                                     });
}

int ml_calls_pop(struct ml_calls *c, const struct ml_event *event)
{
    struct ml_call_stack *stack = stack_of(c, event->thread);

    if (!stack)
        return -ENOMEM;
    if (stack->open.len > 0 && !is_at(stack, event->scope)) /* else its push was lost */
        stack->open.len--;
    settle(stack, event->scope);
    return 0;
}

int ml_calls_end(struct ml_calls *c, const struct ml_event *event)
{
    struct ml_call_stack *stack = stack_of(c, event->thread);

    if (!stack)
        return -ENOMEM;
    stack->open.len = 0;
    return 0;
}

bool ml_calls_within(struct ml_calls *c, uint32_t thread, uint32_t inner, uint32_t outer)
{
    const struct ml_call_stack *stack = stack_of(c, thread);
    uint32_t between =
        ml_trace_scope(c->trace, inner)->depth - ml_trace_scope(c->trace, outer)->depth;

    for (size_t i = stack ? stack->open.len : 0; i > 0; i--) {
        if (stack->open.items[i - 1].scope == outer)
            return stack->open.items[i - 1].is_call;
        if (between-- == 0)
            break;
    }
    return false;
}

bool ml_calls_goes_on(struct ml_calls *c, uint32_t thread, uint32_t scope, uint64_t ordinal)
{
    const struct ml_call_stack *stack = stack_of(c, thread);

    for (size_t i = stack ? stack->open.len : 0; i > 0; i--) {
        const struct ml_call_entry *entry = &stack->open.items[i - 1];

        if (entry->scope == scope && entry->next_ordinal <= ordinal)
            return entry->is_call;
    }
    return false;
}
