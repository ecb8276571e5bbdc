/* torch_nodes.c: see torch_nodes.h.
 *
 * A node begins with what counts its owners, of which there are two kinds from
 * PyTorch 1.13 to 2.15: a weak pointer to itself, or counters; then come the numbers.
 * Every node is larger than what is read of it; if a later version puts other things
 * there, numbers match no tape, and backward has operators instead of modules.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "torch_nodes.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "names.h"
#include "ring.h"

/* What the C++ compiler puts in front of a class's virtual functions. */
struct type_info {
    const void *vtable;
    const char *name;
};

struct numbers {
    uint64_t sequence;
    uint64_t topological;
    uint64_t has_parent;
    uint64_t thread_id;
};

struct node {
    const struct type_info *const *vtable; /* behind it */
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

#define SLOTS 1024u

/* Classes by their virtual functions, which stay where they are. A slot is filled
 * once, its name first; when it is taken the name is looked up each time. */
static struct {
    _Atomic uint32_t name;
    _Atomic uintptr_t vtable;
} classes[SLOTS];

/* The last of the names in "N5torch8autograd9generated14AddmmBackward0E". */
static uint32_t last_name(const char *mangled)
{
    const char *last = mangled;
    size_t len = 0;

    if (*mangled == '*') /* a class that only its library knows */
        mangled++;
    if (*mangled != 'N')
        return ml_name(mangled);
    for (const char *p = mangled + 1; *p >= '1' && *p <= '9'; p = last + len) {
        size_t n = 0;
        while (*p >= '0' && *p <= '9' && n < ML_NAMES_MAX)
            n = n * 10 + (size_t)(*p++ - '0');
        if (strnlen(p, n) < n)
            break;
        last = p;
        len = n;
    }
    return ml_name_bytes(last, len);
}

static uint32_t class_name(const struct type_info *const *vtable)
{
    size_t slot = ((uintptr_t)vtable >> 3) * 0x9e3779b97f4a7c15u >> 32 & (SLOTS - 1);
    uintptr_t known = atomic_load_explicit(&classes[slot].vtable, memory_order_acquire);
    uint32_t name;

    if (known == (uintptr_t)vtable)
        return atomic_load_explicit(&classes[slot].name, memory_order_relaxed);
    name = vtable && vtable[-1] && vtable[-1]->name ? last_name(vtable[-1]->name) : 0;
    if (!known && name) {
        uint32_t none = 0;
        /* Whoever sets the name owns the slot. Pairs with the acquire load above. */
        if (atomic_compare_exchange_strong_explicit(&classes[slot].name, &none, name,
                                                    memory_order_relaxed, memory_order_relaxed))
            atomic_store_explicit(&classes[slot].vtable, (uintptr_t)vtable, memory_order_release);
    }
    return name;
}

struct ml_torch_node ml_torch_node(const void *node)
{
    const struct node *n = node;
    const struct numbers *numbers = n->weak.self == node ? &n->weak.numbers : &n->counted.numbers;

    return (struct ml_torch_node){numbers->thread_id, numbers->sequence, class_name(n->vtable)};
}
