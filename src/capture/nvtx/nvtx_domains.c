/* nvtx_domains.c: see nvtx_domains.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "nvtx_domains.h"

#include <errno.h>
#include <stdatomic.h>

#include "compiler.h"
#include "memledger/memledger.h"
#include "names.h"
#include "objects.h"
#include "owner_lock.h"
#include "sys.h"

static struct domain {
    uint32_t name;
    _Atomic uint32_t object; /* 0: not created yet */
} domains[ML_NVTX_DOMAINS];

static _Atomic uint32_t count = 1; /* the default domain exists */
static struct ml_owner_lock domains_lock;

/* A pointer that no program can mistake for memory. */
static ml_nvtx_domain handle_of(uint32_t domain)
{
    return (ml_nvtx_domain)(uintptr_t)(domain ? domain : ML_NVTX_DOMAINS);
}

static uint32_t find(uint32_t name)
{
    /* Pairs with the release store in add: the names are set. */
    uint32_t n = atomic_load_explicit(&count, memory_order_acquire);

    for (uint32_t i = 1; i < n; i++) {
        if (domains[i].name == name)
            return i;
    }
    return 0;
}

static uint32_t add(uint32_t name)
{
    uint32_t domain = find(name);
    uint32_t n = atomic_load_explicit(&count, memory_order_relaxed);

    if (domain || n == ML_NVTX_DOMAINS)
        return domain;
    domains[n].name = name;
    atomic_store_explicit(&count, n + 1, memory_order_release);
    return n;
}

ml_nvtx_domain ml_nvtx_domain_create(uint32_t name)
{
    uint32_t domain = find(name);
    int saved_errno = errno;
    struct ml_quiet quiet;

    if (domain || !name)
        return handle_of(domain);
    ml_quiet_begin(&quiet);
    if (ml_owner_lock(&domains_lock)) {
        domain = add(name);
        ml_owner_unlock(&domains_lock);
    }
    ml_quiet_end(&quiet);
    errno = saved_errno;
    return handle_of(domain);
}

uint32_t ml_nvtx_domain_number(ml_nvtx_domain handle)
{
    uintptr_t domain = (uintptr_t)handle;

    return ML_LIKELY(domain < ML_NVTX_DOMAINS) ? (uint32_t)domain : 0;
}

uint32_t ml_nvtx_domain_name(uint32_t domain)
{
    return domains[domain].name;
}

/* Concurrent threads may create two objects of one name: the reports join them. */
uint32_t ml_nvtx_domain_object(uint32_t domain)
{
    struct domain *d = &domains[domain];
    uint32_t object = atomic_load_explicit(&d->object, memory_order_relaxed);
    int saved_errno = errno;
    uint64_t handle;

    if (ML_LIKELY(object))
        return object;
    if (ml_objects_create(MEMLEDGER_DOMAIN, 0, domain ? d->name : ml_name("NVTX"), &handle)) {
        object = ml_object_number(handle);
        atomic_store_explicit(&d->object, object, memory_order_relaxed);
    }
    errno = saved_errno;
    return object;
}

/* ---- Categories --------------------------------------------------------- */

/* Open addressing without a lock: a slot's key is set once and stays, so a reader finds the name,
 * or none yet. */
#define SLOTS 4096u
#define PROBES 64u

static struct slot {
    _Atomic uint64_t key; /* 0: empty */
    _Atomic uint32_t name;
} slots[SLOTS];

static uint64_t key_of(uint32_t domain, uint32_t category)
{
    return (uint64_t)(domain + 1) << 32 | category;
}

static struct slot *probe(uint64_t key, unsigned i)
{
    return &slots[((key * 0x9e3779b97f4a7c15u >> 32) + i) % SLOTS];
}

void ml_nvtx_category_set(uint32_t domain, uint32_t category, uint32_t name)
{
    uint64_t key = key_of(domain, category);

    for (unsigned i = 0; i < PROBES; i++) {
        struct slot *s = probe(key, i);
        uint64_t there = 0;
        if (atomic_compare_exchange_strong_explicit(&s->key, &there, key, memory_order_relaxed,
                                                    memory_order_relaxed) ||
            there == key) {
            atomic_store_explicit(&s->name, name, memory_order_relaxed);
            return;
        }
    }
}

uint32_t ml_nvtx_category(uint32_t domain, uint32_t category)
{
    uint64_t key = key_of(domain, category);

    for (unsigned i = 0; i < PROBES; i++) {
        struct slot *s = probe(key, i);
        uint64_t there = atomic_load_explicit(&s->key, memory_order_relaxed);
        if (there == key)
            return atomic_load_explicit(&s->name, memory_order_relaxed);
        if (!there)
            break;
    }
    return 0;
}
