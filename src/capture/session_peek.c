/* session_peek.c: see session_peek.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "session_peek.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "proc_stat.h"
#include "recorder.h"
#include "ring.h"
#include "session.h"

#define PAGE_BYTES sizeof(struct ml_session)
#define ANCESTORS_MAX 32

/* ---- The page ------------------------------------------------------------ */

static struct ml_session *map_page(const char *dir)
{
    char path[128];
    long fd, at = -1;

    if ((size_t)snprintf(path, sizeof(path), "%s/%s", dir, ML_SESSION_PAGE) >= sizeof(path))
        return NULL;
    fd = syscall(SYS_openat, (long)AT_FDCWD, path, (long)(O_RDWR | O_CLOEXEC));
    if (fd < 0)
        return NULL;
    if (ml_session_is_whole((int)fd))
        at = syscall(SYS_mmap, NULL, PAGE_BYTES, (long)(PROT_READ | PROT_WRITE), (long)MAP_SHARED,
                     fd, 0L);
    syscall(SYS_close, fd);
    return at == -1 ? NULL : (struct ml_session *)at;
}

static void unmap_page(struct ml_session *page)
{
    syscall(SYS_munmap, page, PAGE_BYTES);
}

static bool is_ours(const struct ml_session *page)
{
    return page && page->magic == ML_SHARED_MAGIC && page->version == ML_SHARED_VERSION;
}

void ml_session_count_sandboxed(const char *dir)
{
    struct ml_session *page = map_page(dir);

    if (is_ours(page))
        atomic_fetch_add_explicit(&page->began_in_sandbox, 1, memory_order_relaxed);
    if (page)
        unmap_page(page);
}

/* ---- Filters that leave the recorder alone -------------------------------- */

/* The entry of that process, else NULL and in *ret_free one that it can have. */
static struct ml_session_spared *find_entry(struct ml_session *page, uint64_t process,
                                            struct ml_session_spared **ret_free)
{
    size_t home = (process ^ process >> 32) % ML_SESSION_SPARED;

    *ret_free = &page->spared[home]; /* another's, unless one is free */
    for (size_t i = ML_SESSION_SPARED; i-- > 0;) {
        struct ml_session_spared *entry = &page->spared[(home + i) % ML_SESSION_SPARED];
        uint64_t owner = atomic_load_explicit(&entry->process, memory_order_acquire);
        if (owner == process)
            return entry;
        if (!owner)
            *ret_free = entry;
    }
    return NULL;
}

/* The nearest of its ancestors that has added filters, or it itself: a process has the
 * filters of the one that started it. */
static uint32_t spared_filters(struct ml_session *page)
{
    struct ml_proc_stat stat;
    bool known = ml_proc_stat_read_file("/proc/self/stat", &stat);

    for (int i = 0; known && i < ANCESTORS_MAX; i++) {
        struct ml_session_spared *unused;
        struct ml_session_spared *entry = find_entry(page, ml_proc_key(&stat), &unused);

        if (entry)
            return atomic_load_explicit(&entry->filters, memory_order_acquire);
        known = ml_proc_stat_read(stat.parent, stat.parent, &stat);
    }
    return 0;
}

bool ml_session_harmless_filters(const char *dir, struct ml_seccomp_state *ret,
                                 uint32_t *ret_spared)
{
    struct ml_session *page = map_page(dir);
    bool known = true;

    *ret = (struct ml_seccomp_state){0};
    *ret_spared = 0;
    if (is_ours(page)) {
        known = page->seccomp_known;
        *ret = (struct ml_seccomp_state){page->seccomp_mode, page->seccomp_filters};
        *ret_spared = spared_filters(page);
        ml_seccomp_add(ret, *ret_spared);
    }
    if (page)
        unmap_page(page);
    return known;
}

/* Others may read the entry meanwhile: no filters is the safe answer. */
void ml_session_tell_spared(uint32_t filters)
{
    struct ml_session *page = ml_session;
    struct ml_session_spared *entry, *another;
    struct ml_proc_stat stat;

    if (!page || !ml_proc_stat_read_file("/proc/self/stat", &stat))
        return;
    entry = find_entry(page, ml_proc_key(&stat), &another);
    if (!entry)
        entry = another;
    atomic_store_explicit(&entry->filters, 0, memory_order_release);
    atomic_store_explicit(&entry->process, ml_proc_key(&stat), memory_order_release);
    atomic_store_explicit(&entry->filters, filters, memory_order_release);
}
