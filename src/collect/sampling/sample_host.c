/* sample_host.c: /proc/meminfo, /proc/PID/statm and /proc/PID/smaps_rollup.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sample_host.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "event.h"
#include "nanoseconds.h"

/* Processes read in one tick; if there are more, they take turns. */
#define PROCESSES_PER_TICK 32
/* The kernel adds up all its zones for this. */
#define SYSTEM_NS 100000000u
/* A program may limit itself at any time. */
#define LIMIT_NS 100000000u
/* The kernel walks all pages of a process for its PSS, and the process
 * cannot map memory meanwhile: so this is rare, and rarer if it takes long. */
#define SHARE_FIRST_NS 200000000u
#define SHARE_NS 1000000000u
#define SHARE_LONG_NS 5000000u
#define SHARE_SELDOM_NS UINT64_C(10000000000)

static bool begin(struct ml_sample_lane *lane)
{
    struct ml_host_lane *h = lane->context;

    h->page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    h->meminfo = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
    h->device = ml_lane_string(lane, "cpu");
    return true;
}

static void end(struct ml_sample_lane *lane)
{
    struct ml_host_lane *h = lane->context;

    for (size_t i = 0; i < h->processes.len; i++)
        close(h->processes.items[i].statm);
    ml_vec_release(&h->processes);
    if (h->meminfo >= 0)
        close(h->meminfo);
}

/* ---- Starts and ends of processes --------------------------------------- */

static void forget_ended(struct ml_host_lane *h)
{
    size_t kept = 0;

    for (size_t i = 0; i < h->processes.len; i++) {
        if (h->processes.items[i].ended)
            close(h->processes.items[i].statm);
        else
            h->processes.items[kept++] = h->processes.items[i];
    }
    h->processes.len = kept;
}

static void watch(struct ml_sample_lane *lane, const struct ml_process_watch *w)
{
    struct ml_host_lane *h = lane->context;
    struct ml_host_process p = {.pid = w->pid, .process = w->process};
    char path[40];

    if (w->gone) {
        for (size_t i = 0; i < h->processes.len; i++)
            h->processes.items[i].ended |= h->processes.items[i].process == w->process;
        forget_ended(h);
        return;
    }
    snprintf(path, sizeof(path), "/proc/%u/statm", w->pid);
    p.statm = open(path, O_RDONLY | O_CLOEXEC);
    p.share_due.next_ns = ml_clock_ns(CLOCK_MONOTONIC) + SHARE_FIRST_NS;
    if (p.statm >= 0 && ml_vec_push(&h->processes, p))
        close(p.statm);
}

/* ---- Reading ------------------------------------------------------------ */

/* A text file's beginning, from an open descriptor. */
static bool read_text(int fd, char *text, size_t room)
{
    ssize_t n = fd >= 0 ? pread(fd, text, room - 1, 0) : -1;

    text[n > 0 ? n : 0] = '\0';
    return n > 0;
}

/* "Name:   123 kB" in bytes. */
static bool find_kib(const char *text, const char *name, uint64_t *ret_bytes)
{
    const char *at = strstr(text, name);

    if (!at)
        return false;
    *ret_bytes = strtoull(at + strlen(name), NULL, 10) * 1024;
    return true;
}

static void read_system(struct ml_sample_lane *lane, uint64_t now_ns)
{
    struct ml_host_lane *h = lane->context;
    struct ml_sample s = {.device = h->device};
    char text[256]; /* all three are at the beginning */

    if (!read_text(h->meminfo, text, sizeof(text)))
        return;
    if (find_kib(text, "MemTotal:", &s.total))
        s.bits |= ML_SAMPLE_TOTAL;
    if (find_kib(text, "MemAvailable:", &s.free))
        s.bits |= ML_SAMPLE_FREE;
    if (s.bits == (ML_SAMPLE_TOTAL | ML_SAMPLE_FREE) && s.free <= s.total) {
        s.used = s.total - s.free;
        s.bits |= ML_SAMPLE_USED;
    }
    if (s.bits)
        ml_lane_send(lane, &h->system, &s, now_ns);
}

static struct ml_sample of_process(const struct ml_host_lane *h, const struct ml_host_process *p,
                                   uint32_t more_bits, uint64_t bytes)
{
    return (struct ml_sample){.device = h->device,
                              .bits = ML_SAMPLE_BY_PROCESS | more_bits |
                                      (1 + p->process) << ML_SAMPLE_PROCESS_SHIFT,
                              .by_process = bytes};
}

static uint64_t address_limit_of(uint32_t pid)
{
    struct rlimit limit;

    if (prlimit((pid_t)pid, RLIMIT_AS, NULL, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
        return 0;
    return limit.rlim_cur;
}

static void add_addresses(struct ml_host_process *p, uint64_t used_bytes, uint64_t now_ns,
                          struct ml_sample *s)
{
    if (ml_due(&p->limit_due, now_ns, LIMIT_NS))
        p->address_limit = address_limit_of(p->pid);
    if (!p->address_limit)
        return;
    s->bits |= ML_SAMPLE_ADDRESSES;
    s->used = used_bytes;
    s->total = p->address_limit;
}

/* A process that has released its memory but is not yet reaped has no pages,
 * which is not a sample. */
static void read_rss(struct ml_sample_lane *lane, struct ml_host_process *p, uint64_t now_ns)
{
    struct ml_host_lane *h = lane->context;
    struct ml_sample s;
    char text[128], *rest;
    uint64_t addresses, pages;

    if (!read_text(p->statm, text, sizeof(text)) || !(addresses = strtoull(text, &rest, 10))) {
        p->ended = true;
        return;
    }
    pages = strtoull(rest, NULL, 10);
    s = of_process(h, p, 0, pages * h->page_bytes);
    add_addresses(p, addresses * h->page_bytes, now_ns, &s);
    ml_lane_send(lane, &p->rss, &s, now_ns);
}

static void read_pss(struct ml_sample_lane *lane, struct ml_host_process *p, uint64_t now_ns)
{
    uint64_t began = ml_clock_ns(CLOCK_MONOTONIC), bytes, took;
    struct ml_sample s;
    char path[48], text[1024];
    int fd;

    snprintf(path, sizeof(path), "/proc/%u/smaps_rollup", p->pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (read_text(fd, text, sizeof(text)) && find_kib(text, "\nPss:", &bytes)) {
        s = of_process(lane->context, p, ML_SAMPLE_SHARE, bytes);
        ml_lane_send(lane, &p->pss, &s, now_ns);
    } else {
        p->no_share = true;
    }
    if (fd >= 0)
        close(fd);
    took = ml_clock_ns(CLOCK_MONOTONIC) - began;
    p->share_due.next_ns = now_ns + (took > SHARE_LONG_NS ? SHARE_SELDOM_NS : SHARE_NS);
}

static void tick(struct ml_sample_lane *lane, uint64_t now_ns)
{
    struct ml_host_lane *h = lane->context;
    bool any_ended = false;

    if (ml_due(&h->system_due, now_ns, SYSTEM_NS))
        read_system(lane, now_ns);
    for (size_t i = 0; i < h->processes.len && i < PROCESSES_PER_TICK; i++) {
        struct ml_host_process *p = &h->processes.items[h->next++ % h->processes.len];

        read_rss(lane, p, now_ns);
        if (!p->ended && !p->no_share && now_ns >= p->share_due.next_ns)
            read_pss(lane, p, now_ns);
        any_ended |= p->ended;
    }
    if (any_ended)
        forget_ended(h);
}

const struct ml_lane_work ml_host_work = {"ml-sample-host", begin, watch, tick, end};
