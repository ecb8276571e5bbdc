/* helpers.c: see helpers.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "helpers.h"

struct candidates {
    uint32_t count;
    const struct ml_source *last;
    const struct ml_source *known; /* the one that was helped before */
};

static struct candidates find_candidates(const struct ml_source *s)
{
    const struct ml_target *t = s->target;
    struct candidates found = {0};

    for (size_t i = 0; i < t->sets.len; i++) {
        for (uint32_t k = 0; k < t->sets.items[i].used; k++) {
            const struct ml_source *other = &t->sets.items[i].sources[k];

            if (!other->open || other == s || !other->place.scope)
                continue;
            found.count++;
            found.last = other;
            if (other->thread + 1 == s->helped)
                found.known = other;
        }
    }
    return found;
}

void ml_source_help(struct ml_source *s, struct ml_event *event)
{
    struct candidates found;

    s->helps = false;
    if (event->kind != ML_ALLOC || event->scope)
        return;
    found = find_candidates(s);
    if (found.count == 1)
        s->helped = found.last->thread + 1;
    if (found.count == 1 || found.known)
        event->scope = found.count == 1 ? found.last->place.scope : found.known->place.scope;
}
