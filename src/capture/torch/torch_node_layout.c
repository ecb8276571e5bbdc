/* torch_node_layout.c: see torch_node_layout.h.
 *
 * A node begins with its reference count, of which there are two kinds from PyTorch 1.13 to 2.15: a
 * weak pointer to itself, or counters. The numbers follow.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "torch_node_layout.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>

struct numbers {
    uint64_t sequence;
    uint64_t topological;
    uint64_t has_parent;
    uint64_t thread_id;
};

struct node {
    const void *vtable;
    union {
        struct {
            const void *self;
            const void *owners;
            struct numbers numbers;
        } weak;
        struct {
            uint64_t owners;
            struct numbers numbers;
        } counted;
    };
};
static_assert(sizeof(struct node) == ML_TORCH_NODE_BYTES, "PyTorch's layout");

struct ml_torch_numbers ml_torch_numbers_in(const void *copy, const void *node)
{
    const struct node *n = copy;
    const struct numbers *numbers = n->weak.self == node ? &n->weak.numbers : &n->counted.numbers;

    return (struct ml_torch_numbers){numbers->thread_id, numbers->sequence};
}

/* Neither a pointer nor 0. A year of nodes, a million a second, is less. */
#define NUMBERS_END (UINT64_C(1) << 45)
#define TAPES_END (UINT64_C(1) << 32)

static bool is_plausible(const struct ml_torch_numbers *n)
{
    return n->tape && n->tape < TAPES_END &&
           (n->number < NUMBERS_END || n->number == ML_TORCH_NO_NUMBER);
}

static bool is_given_out(const struct ml_torch_numbers *n, const struct ml_torch_counter *counter)
{
    return n->tape == counter->tape && n->number < counter->next;
}

enum ml_torch_fit ml_torch_numbers_fit(const struct ml_torch_numbers *n,
                                       const struct ml_torch_counter *here,
                                       const struct ml_torch_counter *backward)
{
    if (!is_plausible(n))
        return ML_TORCH_STRANGE;
    if (n->number == ML_TORCH_NO_NUMBER)
        return ML_TORCH_UNDECIDED;
    if (is_given_out(n, here) || is_given_out(n, backward))
        return ML_TORCH_FITS;
    return n->tape == here->tape ? ML_TORCH_STRANGE : ML_TORCH_UNDECIDED;
}
