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

/* @return 0 or -ENOMEM; *ret is NULL for a thread too many */
static int find(struct ml_nodes *nodes, uint32_t thread, struct ml_node **ret)
{
    *ret = NULL;
    if (thread >= THREADS_MAX)
        return 0;
    if (nodes->threads.len <= thread) {
        size_t missing = thread + 1 - nodes->threads.len;

        if (ml_vec_reserve(&nodes->threads, missing))
            return -ENOMEM;
        memset(nodes->threads.items + nodes->threads.len, 0,
               missing * sizeof(*nodes->threads.items));
        nodes->threads.len += missing;
    }
    *ret = &nodes->threads.items[thread];
    return 0;
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
