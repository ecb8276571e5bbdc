/* nodes.c: see nodes.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "nodes.h"

#include <errno.h>
#include <string.h>

#define THREADS_MAX (1u << 16)

void ml_nodes_release(struct ml_nodes *nodes)
{
    ml_vec_release(&nodes->threads);
}

static ML_NOINLINE int add_threads(struct ml_nodes *nodes, uint32_t last)
{
    size_t missing = last + 1 - nodes->threads.len;

    if (ml_vec_reserve(&nodes->threads, missing) < 0)
        return -ENOMEM;
    memset(nodes->threads.items + nodes->threads.len, 0, missing * sizeof(*nodes->threads.items));
    nodes->threads.len += missing;
    return 0;
}

/* Runs for every event.
 * @return 0 or -ENOMEM; *ret is NULL then, and for a thread beyond the limit */
static ML_ALWAYS_INLINE int find(struct ml_nodes *nodes, uint32_t thread, struct ml_node **ret)
{
    bool known = thread < nodes->threads.len;
    int r = ML_LIKELY(known) || thread >= THREADS_MAX ? 0 : add_threads(nodes, thread);

    *ret = thread < nodes->threads.len ? &nodes->threads.items[thread] : NULL;
    return r;
}

int ml_nodes_follow(struct ml_nodes *nodes, uint32_t thread, uint32_t place, bool marked,
                    uint64_t next_ordinal)
{
    struct ml_node *node;
    int r = find(nodes, thread, &node);

    if (node && (marked || node->place != place)) {
        node->place = place;
        node->node = (struct ml_stretch){true, next_ordinal};
    }
    return r;
}

int ml_nodes_turn(struct ml_nodes *nodes, uint32_t thread, uint64_t next_ordinal)
{
    struct ml_node *node;
    int r = find(nodes, thread, &node);

    if (node)
        node->turn = (struct ml_stretch){true, next_ordinal};
    return r;
}

static bool goes_on(const struct ml_stretch *stretch, uint64_t ordinal)
{
    return stretch->begun && stretch->next_ordinal <= ordinal;
}

bool ml_node_goes_on(const struct ml_nodes *nodes, uint32_t thread, uint64_t ordinal)
{
    return thread < nodes->threads.len && goes_on(&nodes->threads.items[thread].node, ordinal);
}

bool ml_turn_goes_on(const struct ml_nodes *nodes, uint32_t thread, uint64_t ordinal)
{
    return thread < nodes->threads.len && goes_on(&nodes->threads.items[thread].turn, ordinal);
}
