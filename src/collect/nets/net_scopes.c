/* net_scopes.c: see net_scopes.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "net_scopes.h"

/* A follower then has the thread's scopes. */
static void settle(struct ml_net_thread *t, struct ml_net_lists *l, uint32_t at)
{
    if (t->has_turned)
        ml_net_lists_visit(l, t->number - 1, ML_NET_TURN);
    t->has_turned = false;
    for (uint32_t i = 0; i < t->waiting; i++)
        ml_net_lists_keep(l, at, &t->waiting_list[i]);
    t->waiting = 0;
}

static struct ml_net_thread *thread_of(struct ml_net_scopes *s, struct ml_net_lists *l, uint32_t at,
                                       uint32_t number)
{
    struct ml_net_thread *t = &s->threads[number % ML_NET_THREADS];

    if (ML_LIKELY(t->number == number + 1))
        return t;
    settle(t, l, at);
    t->number = number + 1;
    t->knows_scope = t->knows_place = false;
    return t;
}

static ML_ALWAYS_INLINE void set_place(struct ml_net_thread *t, uint32_t place)
{
    t->place = place;
    t->knows_place = true;
}

void ml_net_scopes_carry(struct ml_net_scopes *s, struct ml_net_lists *l, uint32_t at,
                         const struct ml_event *ev)
{
    struct ml_net_thread *t = thread_of(s, l, at, ev->thread);

    if (t->knows_place && t->place == ev->scope)
        return;
    set_place(t, ev->scope);
    ml_net_lists_visit(l, ev->thread, ev->scope);
}

static void enter(struct ml_net_thread *t, uint32_t scope)
{
    t->scope = scope;
    t->knows_scope = true;
}

/* @return whether the push is to be kept now */
static bool push(struct ml_net_thread *t, struct ml_net_lists *l,
                 const struct ml_net_definitions *d, uint32_t at, const struct ml_event *ev)
{
    uint32_t parent;
    bool waits = t->knows_scope && t->waiting < ML_NET_WAITING_MAX &&
                 ml_net_parent_of(d, ev->scope, &parent) && parent == t->scope;

    if (waits)
        t->waiting_list[t->waiting++] = *ev;
    else
        settle(t, l, at);
    enter(t, ev->scope);
    return !waits;
}

static bool pop(struct ml_net_thread *t, struct ml_net_lists *l, const struct ml_net_definitions *d,
                uint32_t at, const struct ml_event *ev)
{
    uint32_t parent;
    bool ends_waiting = t->waiting > 0 &&
                        ml_net_parent_of(d, t->waiting_list[t->waiting - 1].scope, &parent) &&
                        parent == ev->scope;

    if (ends_waiting) {
        t->waiting--;
        t->has_turned = true;
    } else {
        settle(t, l, at);
    }
    enter(t, ev->scope);
    return !ends_waiting;
}

bool ml_net_scopes_keep(struct ml_net_scopes *s, struct ml_net_lists *l,
                        const struct ml_net_definitions *d, uint32_t at, const struct ml_event *ev)
{
    struct ml_net_thread *t = thread_of(s, l, at, ev->thread);

    switch (ev->kind) {
    case ML_PUSH: return push(t, l, d, at, ev);
    case ML_POP: return pop(t, l, d, at, ev);
    case ML_THREAD_END:
        settle(t, l, at);
        enter(t, 0);
        return true;
    case ML_ALLOC:
    case ML_ALLOC_EX: settle(t, l, at); break;
    case ML_LABEL: return true;
    case ML_MARK:
        if (ev->args[0] != ML_MARK_NODE)
            return true;
        break;
    default: break;
    }
    set_place(t, ev->scope);
    return true;
}

void ml_net_scopes_end(struct ml_net_scopes *s, struct ml_net_lists *l, uint32_t at)
{
    for (uint32_t i = 0; i < ML_NET_THREADS; i++)
        settle(&s->threads[i], l, at);
}
