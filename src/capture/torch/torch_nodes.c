/* torch_nodes.c: see torch_nodes.h.
 *
 * The numbers of the first nodes are compared with PyTorch's own counters. If a later version has
 * another layout, that is reported once, and backward shows operators instead of modules.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "torch_nodes.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "compiler.h"
#include "names.h"
#include "own_memory.h"
#include "recorder.h"
#include "ring.h"
#include "sys.h"
#include "torch_node_layout.h"
#include "torch_scopes.h"

/* Precedes a class's virtual functions in the C++ ABI. */
struct type_info {
    const void *vtable;
    const char *name;
};

#define SLOTS 1024u

/* Classes by their table of virtual functions, which does not move. A slot is filled once, its name
 * first; if the slot is taken, the name is looked up each time. */
static struct {
    _Atomic uint32_t name;
    _Atomic uintptr_t vtable;
} classes[SLOTS];

/* The last of the names in "N5torch8autograd9generated14AddmmBackward0E". */
static uint32_t last_name(const char *mangled)
{
    const char *last = mangled;
    size_t len = 0;

    if (*mangled == '*') /* a class that is local to its library */
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
        /* The thread that sets the name owns the slot. Pairs with the acquire load above. */
        if (atomic_compare_exchange_strong_explicit(&classes[slot].name, &none, name,
                                                    memory_order_relaxed, memory_order_relaxed))
            atomic_store_explicit(&classes[slot].vtable, (uintptr_t)vtable, memory_order_release);
    }
    return name;
}

/* ---- Numbers --------------------------------------------------------------------- */

/* Until one has fitted, so many strange ones mean that the layout differs. Some nodes have odd
 * numbers: programs may create them with any number. */
#define STRANGE_MAX 8

static _Atomic uint32_t known; /* enum ml_torch_fit, for the layout */
static _Atomic uint32_t strange_nodes;

/* Threads may find out at the same time: the first one decides. @return whether this call did */
static bool decide(enum ml_torch_fit fit)
{
    uint32_t undecided = ML_TORCH_UNDECIDED;

    return atomic_compare_exchange_strong_explicit(&known, &undecided, fit, memory_order_relaxed,
                                                   memory_order_relaxed);
}

static void say_left_alone(void)
{
    if (!ml_session || ml_session_tells(ml_session, ML_NOTICE_AUTOGRAD))
        ml_sys_say("memledger: cannot read this PyTorch's autograd: memory of backward passes has "
                   "no modules\n");
}

static enum ml_torch_fit compare(const void *node)
{
    uint64_t copy[ML_TORCH_NODE_BYTES / sizeof(uint64_t)];
    struct ml_torch_counter here, backward;
    struct ml_torch_numbers n;
    int saved_errno = errno;
    long read;

    if (!ml_calls_allowed() || !ml_torch_counters(&here, &backward))
        return ML_TORCH_UNDECIDED;
    read = ml_own_memory_read((uintptr_t)node, copy, sizeof(copy));
    errno = saved_errno;
    if (read < (long)sizeof(copy))
        return ML_TORCH_STRANGE;
    n = ml_torch_numbers_in(copy, node);
    return ml_torch_numbers_fit(&n, &here, &backward);
}

/* Called until a node has fitted. */
static ML_NOINLINE enum ml_torch_fit find_out(const void *node)
{
    enum ml_torch_fit fit = compare(node);

    if (fit == ML_TORCH_FITS)
        (void)decide(ML_TORCH_FITS);
    if (fit == ML_TORCH_STRANGE &&
        atomic_fetch_add_explicit(&strange_nodes, 1, memory_order_relaxed) + 1 == STRANGE_MAX &&
        decide(ML_TORCH_STRANGE))
        say_left_alone();
    return fit;
}

/* None if the layout differs. */
static struct ml_torch_numbers numbers_of(const void *node)
{
    uint32_t fit = atomic_load_explicit(&known, memory_order_relaxed);

    if (ML_UNLIKELY(fit == ML_TORCH_UNDECIDED))
        fit = find_out(node);
    if (ML_UNLIKELY(fit == ML_TORCH_STRANGE))
        return (struct ml_torch_numbers){0, ML_TORCH_NO_NUMBER};
    return ml_torch_numbers_in(node, node);
}

struct ml_torch_node ml_torch_node(const void *node)
{
    struct ml_torch_numbers numbers = numbers_of(node);
    const struct type_info *const *vtable;

    memcpy(&vtable, node, sizeof(vtable));
    return (struct ml_torch_node){numbers.tape, numbers.number, class_name(vtable)};
}
