/* target_end.c: see target_end.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "target_end.h"

#include <errno.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proc_stat.h"
#include "record_length.h"

/* How long after its note a process that exits may still record, as other threads and destructors
 * do, and how long the kernel may take to free its memory and to close its devices. An older note
 * was left by a child of vfork, which shares its parent's memory. */
#define RECORD_NS_MAX UINT64_C(1000000000)
#define TEARDOWN_NS_MAX UINT64_C(30000000000)

/* ---- When ---------------------------------------------------------------- */

/* Of the records that have been read, and of those that have not. */
static uint64_t last_record_ticks(const struct ml_stage *stage, const struct ml_target *t)
{
    uint64_t last = 0;

    for (size_t k = 0; k < t->sets.len; k++) {
        for (uint32_t r = 0; r < t->sets.items[k].count; r++) {
            const struct ml_source *s = &t->sets.items[k].sources[r];

            last = ml_max_u64(last, ml_max_u64(s->ticks, ml_source_last_ticks(stage, s)));
        }
    }
    return last;
}

static uint64_t earliest_end(const struct ml_stage *stage, const struct ml_target *t)
{
    return ml_max_u64(t->alive_ticks, last_record_ticks(stage, t));
}

/* 0: it left no note. */
static uint64_t exit_clock(const struct ml_target *t)
{
    if (!t->sets.len)
        return 0;
    /* Pairs with the release store of note_exit: the code is there. */
    return atomic_load_explicit(&t->sets.items[0].shared->exit_clock, memory_order_acquire);
}

static bool is_later(const struct ml_ticks *ticks, uint64_t at, uint64_t than, uint64_t ns)
{
    return at > than && ((ml_u128)(at - than) * ticks->rate) >> 32 > ns;
}

/* Whether the process has run on after that time, instead of exiting. */
static bool ran_on(const struct ml_stage *stage, const struct ml_target *t, uint64_t said)
{
    return is_later(stage->ticks, last_record_ticks(stage, t), said, RECORD_NS_MAX) ||
           is_later(stage->ticks, t->alive_ticks, said, TEARDOWN_NS_MAX);
}

bool ml_target_is_ending(const struct ml_stage *stage, const struct ml_target *t)
{
    uint64_t said = exit_clock(t);

    return said && !is_later(stage->ticks, t->alive_ticks, said, RECORD_NS_MAX);
}

void ml_target_find_end(const struct ml_stage *stage, struct ml_target *t, uint64_t found_ticks)
{
    uint64_t said = exit_clock(t);
    uint64_t end = found_ticks;

    t->said_end = said && said <= found_ticks && !ran_on(stage, t, said);
    if (t->said_end)
        end = ml_min_u64(ml_max_u64(said, earliest_end(stage, t)), found_ticks);
    ml_target_end_at(t, end, ml_ticks_ns(stage->ticks, end));
}

void ml_target_end_before(const struct ml_stage *stage, struct ml_target *t, uint64_t ticks)
{
    uint64_t end;

    if (t->said_end || t->replaced || t->end_ticks <= ticks)
        return;
    end = ml_min_u64(ml_max_u64(ticks, earliest_end(stage, t)), t->end_ticks);
    ml_target_end_at(t, end, ml_ticks_ns(stage->ticks, end));
}

/* ---- How ----------------------------------------------------------------- */

/* From <linux/pidfd.h>; older headers lack it. */
struct pidfd_info {
    uint64_t mask;
    uint64_t cgroup;
    uint32_t ids[11];
    int32_t exit_status;
};
#define PIDFD_GET_INFO _IOWR(0xff, 11, struct pidfd_info)
#define PIDFD_INFO_EXIT (UINT64_C(1) << 3)

/* For a process that its parent has waited for. */
static uint64_t status_of_reaped(int pidfd)
{
    struct pidfd_info info = {.mask = PIDFD_INFO_EXIT};

    if (ioctl(pidfd, PIDFD_GET_INFO, &info) || !(info.mask & PIDFD_INFO_EXIT))
        return 0;
    return 1 + (uint64_t)(uint32_t)info.exit_status;
}

/* The kernel shows a status of 0 to readers without permission: reading this link needs the same
 * permission. */
static bool may_look_at(uint32_t pid)
{
    char path[64], link[64];

    snprintf(path, sizeof(path), "/proc/%u/ns/pid", pid);
    return readlink(path, link, sizeof(link)) >= 0 || (errno != EACCES && errno != EPERM);
}

/* For a process that its parent has not waited for yet. The pid is not reused as long as the pidfd
 * refers to a process. */
static uint64_t status_of_zombie(const struct ml_target *t)
{
    struct ml_proc_stat stat;

    if (!ml_proc_stat_read(t->pid, t->pid, &stat) || stat.state != 'Z' || !may_look_at(t->pid) ||
        syscall(SYS_pidfd_send_signal, t->pidfd, 0, NULL, 0))
        return 0;
    return 1 + (uint64_t)stat.exit_status;
}

uint64_t ml_target_kernel_status(const struct ml_target *t)
{
    uint64_t status = t->pidfd >= 0 ? status_of_zombie(t) : 0;

    return status || t->pidfd < 0 ? status : status_of_reaped(t->pidfd);
}

uint64_t ml_target_exit_status(const struct ml_target *t)
{
    uint64_t status = t->status ? t->status : ml_target_kernel_status(t);
    uint32_t said;

    /* A process may be killed after it has begun to exit: its own note is the last resort. */
    if (status || !t->said_end)
        return status;
    said = atomic_load_explicit(&t->sets.items[0].shared->exit_code, memory_order_relaxed);
    return said ? 1 + (uint64_t)((said - 1) & 0xff) * 256 : 0;
}
