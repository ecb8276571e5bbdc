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

/* The longest time from a call of exit() to the process's end. An older note was left by
 * a child of vfork, which shares its parent's memory. */
#define EXIT_NS_MAX 1000000000u

/* ---- When ---------------------------------------------------------------- */

static uint64_t last_record_ticks(const struct ml_stage *stage, const struct ml_target *t)
{
    uint64_t last = 0;

    for (size_t k = 0; k < t->sets.len; k++) {
        for (uint32_t r = 0; r < t->sets.items[k].count; r++)
            last = ml_max_u64(last, ml_source_last_ticks(stage, &t->sets.items[k].sources[r]));
    }
    return last;
}

/* 0: it left no note. */
static uint64_t exit_clock(const struct ml_target *t)
{
    if (!t->sets.len)
        return 0;
    /* Pairs with the release store of note_exit: the code is there. */
    return atomic_load_explicit(&t->sets.items[0].shared->exit_clock, memory_order_acquire);
}

/* Whether the process was seen running long after that time. */
static bool ran_on(const struct ml_ticks *ticks, const struct ml_target *t, uint64_t said)
{
    return t->alive_ticks > said &&
           ((ml_u128)(t->alive_ticks - said) * ticks->rate) >> 32 > EXIT_NS_MAX;
}

void ml_target_find_end(const struct ml_stage *stage, struct ml_target *t, uint64_t found_ticks)
{
    uint64_t said = exit_clock(t);
    uint64_t least = ml_max_u64(t->alive_ticks, last_record_ticks(stage, t));

    t->said_end = said && said <= found_ticks && !ran_on(stage->ticks, t, said);
    t->end_ticks = t->said_end ? ml_min_u64(ml_max_u64(said, least), found_ticks) : found_ticks;
    t->end_ns = ml_ticks_ns(stage->ticks, t->end_ticks);
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
