/* sample_gpu.c: samples of NVML's figures.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sample_gpu.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "event.h"

/* The driver takes longer to list processes than to report a device's memory: they are listed
 * when that has changed, though not more often than this, and now and then. */
#define LIST_NS 100000000u
#define LIST_ANYWAY_NS 1000000000u
#define OPEN_FILES_NS 1000000000u
#define NEWCOMER_NS 300000000u
#define STRANGERS_MAX 1024
/* The driver does no other work for the program while it answers a reading: a thousand a
 * second made a training step up to 5 % longer. Memory that has not changed for this long
 * is read less often until it does. */
#define REST_AFTER_NS 250000000u

static bool begin(struct ml_sample_lane *lane)
{
    struct ml_gpu_lane *g = lane->context;

    if (ml_nvml_open(&g->nvml, g->why))
        return false;
    for (size_t i = 0; i < g->nvml.gpus.len; i++) {
        char name[32];

        snprintf(name, sizeof(name), "cuda:%zu", i);
        if (ml_vec_push(&g->devices, (struct ml_gpu_device){.string = ml_lane_string(lane, name)}))
            return false;
        g->told |= ml_nvml_read(&g->nvml, i).valid != 0;
    }
    g->why[0] = '\0';
    return true;
}

/* The library's answers stay: the collector stores them in the trace. */
static void end(struct ml_sample_lane *lane)
{
    struct ml_gpu_lane *g = lane->context;

    if (!g->why[0] && !g->told)
        snprintf(g->why, sizeof(g->why), "the NVIDIA driver does not report memory use");
}

static void watch(struct ml_sample_lane *lane, const struct ml_process_watch *w)
{
    struct ml_gpu_lane *g = lane->context;
    size_t kept = 0;

    if (!w->gone) {
        (void)ml_vec_push(&g->watched, *w);
        return;
    }
    for (size_t i = 0; i < g->watched.len; i++)
        if (g->watched.items[i].process != w->process)
            g->watched.items[kept++] = g->watched.items[i];
    g->watched.len = kept;
    for (size_t i = kept = 0; i < g->users.len; i++)
        if (g->users.items[i].process != w->process)
            g->users.items[kept++] = g->users.items[i];
    g->users.len = kept;
}

static bool is_list_due(struct ml_gpu_device *d, uint64_t used, uint64_t now_ns)
{
    bool changed = used != d->listed_used || d->has_newcomers;
    uint64_t every = changed ? LIST_NS : LIST_ANYWAY_NS;

    if (d->listed_ns && now_ns - d->listed_ns < every)
        return false;
    d->listed_used = used;
    d->listed_ns = now_ns;
    return true;
}

static void read_memory(struct ml_sample_lane *lane, size_t device, uint64_t now_ns)
{
    struct ml_gpu_lane *g = lane->context;
    struct ml_gpu_device *d = &g->devices.items[device];
    struct ml_gpu_memory m = ml_nvml_read(&g->nvml, device);
    struct ml_sample s = {d->string, m.valid, m.used, m.free, m.total, 0};

    g->told |= m.valid != 0;
    if (!d->memory.any || s.used != d->memory.sample.used)
        d->changed_ns = now_ns;
    if (m.valid)
        ml_lane_send(lane, &d->memory, &s, now_ns);
}

static bool is_at_rest(const struct ml_gpu_lane *g, uint64_t now_ns)
{
    bool rests = g->may_rest;

    for (size_t i = 0; i < g->devices.len; i++)
        rests &= now_ns - g->devices.items[i].changed_ns >= REST_AFTER_NS;
    return rests;
}

/* ---- By process --------------------------------------------------------- */

static const struct ml_process_watch *find_watched(const struct ml_gpu_lane *g, uint32_t pid)
{
    for (size_t i = g->watched.len; i-- > 0;)
        if (g->watched.items[i].pid == pid)
            return &g->watched.items[i];
    return NULL;
}

static struct ml_gpu_user *find_user(struct ml_gpu_lane *g, size_t device, uint32_t process)
{
    for (size_t i = 0; i < g->users.len; i++)
        if (g->users.items[i].device == device && g->users.items[i].process == process)
            return &g->users.items[i];
    if (ml_vec_push(&g->users, (struct ml_gpu_user){.device = device, .process = process}))
        return NULL;
    return &g->users.items[g->users.len - 1];
}

static void send_user(struct ml_sample_lane *lane, struct ml_gpu_user *user, uint64_t bytes,
                      uint64_t now_ns)
{
    struct ml_gpu_lane *g = lane->context;
    struct ml_sample s = {.device = g->devices.items[user->device].string,
                          .bits = ML_SAMPLE_BY_PROCESS | (1 + user->process)
                                                             << ML_SAMPLE_PROCESS_SHIFT,
                          .by_process = bytes};

    ml_lane_send(lane, &user->last, &s, now_ns);
}

/* A process that the driver no longer lists has no memory there. */
static void send_zeros(struct ml_sample_lane *lane, size_t device, uint64_t now_ns)
{
    struct ml_gpu_lane *g = lane->context;

    for (size_t i = 0; i < g->users.len; i++) {
        struct ml_gpu_user *user = &g->users.items[i];

        if (user->device == device && user->round != g->round)
            send_user(lane, user, 0, now_ns);
    }
}

static bool has_gpu_open(uint32_t pid)
{
    char path[40], link[32];
    struct dirent *entry;
    bool found = false;
    DIR *dir;

    snprintf(path, sizeof(path), "/proc/%u/fd", pid);
    dir = opendir(path);
    while (dir && !found && (entry = readdir(dir))) {
        ssize_t n = readlinkat(dirfd(dir), entry->d_name, link, sizeof(link) - 1);

        link[n > 0 ? n : 0] = '\0';
        found = !strncmp(link, "/dev/nvidia", 11) && link[11] >= '0' && link[11] <= '9';
    }
    if (dir)
        closedir(dir);
    return found;
}

static bool any_has_gpu_open(const struct ml_gpu_lane *g)
{
    for (size_t i = 0; i < g->watched.len; i++)
        if (has_gpu_open(g->watched.items[i].pid))
            return true;
    return false;
}

/* If a recorded process has the GPU open and is in no list, the driver's
 * process numbers are those of another pid namespace, or it lists none.
 * Then the owner of the memory is unknown. */
static bool numbers_are_foreign(struct ml_gpu_lane *g, bool any_listed, uint64_t now_ns)
{
    if (any_listed || g->users.len)
        return false;
    if (ml_due(&g->open_due, now_ns, OPEN_FILES_NS))
        g->has_gpu_open = any_has_gpu_open(g);
    return g->has_gpu_open;
}

/* Whether a process has been unknown for long enough: the driver lists one that has just started
 * before the collector has read its hello. */
static bool is_settled(struct ml_gpu_lane *g, uint32_t pid, uint64_t now_ns)
{
    for (size_t i = 0; i < g->strangers.len; i++)
        if (g->strangers.items[i].pid == pid)
            return now_ns - g->strangers.items[i].since_ns >= NEWCOMER_NS;
    if (g->strangers.len == STRANGERS_MAX)
        ml_vec_clear(&g->strangers);
    (void)ml_vec_push(&g->strangers, (struct ml_gpu_stranger){pid, now_ns});
    return false;
}

static void send_others(struct ml_sample_lane *lane, size_t device, uint64_t bytes, uint64_t now_ns)
{
    struct ml_gpu_lane *g = lane->context;
    struct ml_gpu_device *d = &g->devices.items[device];
    struct ml_sample s = {.device = d->string, .bits = ML_SAMPLE_BY_PROCESS, .by_process = bytes};

    ml_lane_send(lane, &d->others, &s, now_ns);
}

static void read_processes(struct ml_sample_lane *lane, size_t device, uint64_t now_ns)
{
    struct ml_gpu_lane *g = lane->context;
    bool any_listed = false, others_known = true, newcomers = false;
    uint64_t others = 0;

    if (!ml_nvml_list(&g->nvml, device))
        return;
    g->round++;
    for (size_t i = 0; i < g->nvml.processes.len; i++) {
        const struct ml_gpu_process *p = &g->nvml.processes.items[i];
        const struct ml_process_watch *watched = find_watched(g, p->pid);
        struct ml_gpu_user *user = watched ? find_user(g, device, watched->process) : NULL;

        any_listed |= watched != NULL;
        if (user)
            user->round = g->round;
        if (user && p->known)
            send_user(lane, user, p->used, now_ns);
        if (watched)
            continue;
        others += p->known ? p->used : 0;
        others_known &= p->known;
        newcomers |= p->pid == g->program || !is_settled(g, p->pid, now_ns);
    }
    g->devices.items[device].has_newcomers = newcomers;
    send_zeros(lane, device, now_ns);
    if (others_known && !newcomers && !numbers_are_foreign(g, any_listed, now_ns))
        send_others(lane, device, others, now_ns);
}

static void tick(struct ml_sample_lane *lane, uint64_t now_ns)
{
    struct ml_gpu_lane *g = lane->context;

    for (size_t i = 0; i < g->devices.len; i++) {
        struct ml_gpu_device *d = &g->devices.items[i];

        read_memory(lane, i, now_ns);
        if (is_list_due(d, d->memory.sample.used, now_ns))
            read_processes(lane, i, now_ns);
    }
    lane->at_rest = is_at_rest(g, now_ns);
}

const struct ml_lane_work ml_gpu_work = {"ml-sample-gpu", begin, watch, tick, end};
