/* session_peek.c: see session_peek.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "session_peek.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "process_key.h"
#include "recorder.h"
#include "ring.h"
#include "session.h"

#define PAGE_BYTES sizeof(struct ml_session)

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

static struct ml_session_spared *entry_of(struct ml_session *page, uint64_t process)
{
    return &page->spared[(process ^ process >> 32) % ML_SESSION_SPARED];
}

static bool find_spared(struct ml_session *page, uint64_t process, uint32_t *ret)
{
    const struct ml_session_spared *entry = entry_of(page, process);
    uint32_t filters = atomic_load_explicit(&entry->filters, memory_order_acquire);

    if (!process || atomic_load_explicit(&entry->process, memory_order_acquire) != process)
        return false;
    *ret = filters;
    return true;
}

/* One that was started by vfork has left no word; it has its parent's filters. */
static uint32_t spared_filters(struct ml_session *page)
{
    uint32_t filters = 0, parent, grandparent;
    uint64_t process = ml_process_key_read("/proc/self/stat", &parent);
    char path[32];

    if (find_spared(page, process, &filters) || !process || !parent)
        return filters;
    snprintf(path, sizeof(path), "/proc/%u/stat", parent);
    find_spared(page, ml_process_key_read(path, &grandparent), &filters);
    return filters;
}

bool ml_session_harmless_filters(const char *dir, struct ml_seccomp_state *ret)
{
    struct ml_session *page = map_page(dir);
    bool known = true;

    *ret = (struct ml_seccomp_state){0};
    if (is_ours(page)) {
        known = page->seccomp_known;
        *ret = (struct ml_seccomp_state){page->seccomp_mode, page->seccomp_filters};
        ml_seccomp_add(ret, spared_filters(page));
    }
    if (page)
        unmap_page(page);
    return known;
}

/* Others may read the entry meanwhile: a process without filters is the safe answer. */
void ml_session_tell_spared(uint32_t filters)
{
    struct ml_session *page = ml_session;
    uint32_t parent;
    uint64_t process = page ? ml_process_key_read("/proc/self/stat", &parent) : 0;
    struct ml_session_spared *entry;

    if (!process)
        return;
    entry = entry_of(page, process);
    atomic_store_explicit(&entry->filters, 0, memory_order_release);
    atomic_store_explicit(&entry->process, process, memory_order_release);
    atomic_store_explicit(&entry->filters, filters, memory_order_release);
}
