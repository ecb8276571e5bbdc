/* session_peek.c: see session_peek.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "session_peek.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "proc_stat.h"
#include "recorder.h"
#include "session.h"

#define PAGE_BYTES sizeof(struct ml_session)
#define ANCESTORS_MAX 32

/* ---- The page ------------------------------------------------------------ */

static long open_page(const char *dir, long how)
{
    char path[sizeof(((struct sockaddr_un *)0)->sun_path)];

    if (!ml_session_path_in(dir, path, sizeof(path), ML_SESSION_PAGE))
        return -1;
    return syscall(SYS_openat, (long)AT_FDCWD, path, how | O_CLOEXEC);
}

static bool is_ours(const struct ml_session *page)
{
    return page->magic == ML_SHARED_MAGIC && page->version == ML_SHARED_VERSION;
}

/* Makes a copy: other processes write to the page meanwhile, each number separately. */
static bool read_page(const char *dir, struct ml_session *ret)
{
    long fd = open_page(dir, O_RDONLY);
    size_t have = 0;
    long n;

    if (fd < 0)
        return false;
    while (have < PAGE_BYTES &&
           (n = syscall(SYS_read, fd, (char *)ret + have, PAGE_BYTES - have)) > 0)
        have += (size_t)n;
    syscall(SYS_close, fd);
    return have == PAGE_BYTES && is_ours(ret);
}

void ml_session_count_sandboxed(const char *dir)
{
    long fd = open_page(dir, O_RDWR);
    long at = -1;
    struct ml_session *page;

    if (fd < 0)
        return;
    if (ml_session_is_whole((int)fd))
        at = syscall(SYS_mmap, NULL, PAGE_BYTES, (long)(PROT_READ | PROT_WRITE), (long)MAP_SHARED,
                     fd, 0L);
    syscall(SYS_close, fd);
    if (at == -1)
        return;
    page = (struct ml_session *)at;
    if (is_ours(page))
        atomic_fetch_add_explicit(&page->began_in_sandbox, 1, memory_order_relaxed);
    syscall(SYS_munmap, page, PAGE_BYTES);
}

/* ---- Processes that added filters ------------------------------------------ */

/* The entry of that process, or NULL and in *ret_free one that it can take. */
static struct ml_session_spared *find_entry(struct ml_session *page, uint64_t process,
                                            struct ml_session_spared **ret_free)
{
    size_t home = (process ^ process >> 32) % ML_SESSION_SPARED;

    *ret_free = &page->spared[home]; /* another process's, unless one is free */
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

/* The filters of the process itself, or of its nearest ancestor that has added any: a process
 * inherits the filters of the one that started it.
 * @return whether there is one */
static bool inherited(struct ml_session *page, uint32_t *ret_filters)
{
    struct ml_proc_stat stat;
    bool known = ml_proc_stat_read_file("/proc/self/stat", &stat);

    for (int i = 0; known && i < ANCESTORS_MAX; i++) {
        struct ml_session_spared *unused;
        struct ml_session_spared *entry = find_entry(page, ml_proc_key(&stat), &unused);

        if (entry) {
            *ret_filters = atomic_load_explicit(&entry->filters, memory_order_acquire);
            return true;
        }
        known = ml_proc_stat_read(stat.parent, stat.parent, &stat);
    }
    return false;
}

bool ml_session_peek(const char *dir, struct ml_session_view *ret)
{
    struct ml_session page;

    if (!read_page(dir, &page))
        return false;
    *ret = (struct ml_session_view){
        .known = page.seccomp_known,
        .base = {page.seccomp_mode, page.seccomp_filters, page.seccomp_counted},
    };
    if (!inherited(&page, &ret->spared))
        ret->has_gaps = page.restricted_forgotten;
    return true;
}

/* Replacing another process's entry that said restricted leaves the programs of that process
 * without a warning. */
static void take_entry(struct ml_session_spared *entry, uint64_t process)
{
    uint32_t before =
        atomic_exchange_explicit(&entry->filters, ML_SPARED_RESTRICTED, memory_order_acq_rel);

    if (atomic_load_explicit(&entry->process, memory_order_relaxed) &&
        ml_spared_is_restricted(before))
        atomic_store_explicit(&ml_session->restricted_forgotten, 1, memory_order_relaxed);
    atomic_store_explicit(&entry->process, process, memory_order_release);
}

struct ml_spared_entry ml_session_own_entry(void)
{
    struct ml_session *page = ml_session;
    struct ml_session_spared *entry, *another;
    struct ml_proc_stat stat;

    if (!page || !ml_proc_stat_read_file("/proc/self/stat", &stat))
        return (struct ml_spared_entry){0};
    entry = find_entry(page, ml_proc_key(&stat), &another);
    if (!entry) {
        entry = another;
        take_entry(entry, ml_proc_key(&stat));
    }
    return (struct ml_spared_entry){entry, ml_proc_key(&stat)};
}

/* Another process may have taken the entry since. */
void ml_session_set_spared(const struct ml_spared_entry *entry, uint32_t filters)
{
    if (entry->at &&
        atomic_load_explicit(&entry->at->process, memory_order_relaxed) == entry->process)
        atomic_store_explicit(&entry->at->filters, filters, memory_order_seq_cst);
}
