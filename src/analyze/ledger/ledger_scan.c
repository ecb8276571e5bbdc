/* ledger_scan.c: see ledger_scan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ledger_scan.h"

#include <errno.h>
#include <string.h>

#include "cuda_spaces.h"
#include "defs.h"
#include "each_event.h"
#include "memledger/memledger.h"

/* How long after an end an older sample may arrive. */
#define STALE_NS 100000000u

/* ---- Devices ----------------------------------------------------------- */

int64_t ml_ledger_scan_device(struct ml_ledger_scan *scan, uint32_t name)
{
    uint32_t len;
    const char *text = ml_trace_string(scan->replay.trace, name, &len);
    bool is_new = false;
    int64_t index = ml_intern_put(&scan->names, text, len, &is_new);

    if (index < 0 || !is_new)
        return index;
    return ml_vec_push(&scan->devices,
                       (struct ml_ledger_scan_device){
                           .name = ml_intern_get(&scan->names, (uint32_t)index, NULL)}) < 0
               ? -ENOMEM
               : index;
}

static int find_base_levels(struct ml_ledger_scan *scan)
{
    const struct ml_trace *trace = scan->replay.trace;

    for (uint32_t i = 0; i < ml_trace_spaces(trace); i++) {
        const struct ml_space *space = ml_trace_space(trace, i);
        int64_t index = space->level ? ml_ledger_scan_device(scan, space->device) : 0;
        struct ml_ledger_scan_device *device;

        if (index < 0)
            return -ENOMEM;
        if (space->level == 0 || space->level >= ML_LEVELS)
            continue; /* undefined, or of an unknown kind */
        device = &scan->devices.items[index];
        if (device->base_level == 0 || space->level < device->base_level)
            device->base_level = space->level;
    }
    return 0;
}

static uint64_t entered_key(uint32_t process, uint32_t device)
{
    return (uint64_t)process << 32 | device;
}

static enum ml_ledger_use use_of(const struct ml_trace *trace, const struct ml_space *space)
{
    const char *name = ml_trace_string(trace, space->name, NULL);

    return strcmp(name, ML_CUDA_CONTEXT) ? ML_LEDGER_ENTRIES : ML_LEDGER_CONTEXT;
}

static enum ml_ledger_older older_in(const struct ml_trace *trace, const struct ml_space *space)
{
    const char *name = ml_trace_string(trace, space->name, NULL);

    if (!strcmp(name, ML_CUDA_BEFORE_ALL))
        return ML_OLDER_ALL;
    return strcmp(name, ML_CUDA_BEFORE) ? ML_OLDER_NONE : ML_OLDER_OWN;
}

/* A recording has found the memory that its process had before. No entry explains an earlier
 * sample. */
static void find_older(struct ml_ledger_scan_device *device, enum ml_ledger_older older)
{
    struct ml_ledger_sample latest = device->kept[ML_KEPT_LATEST].sample;

    device->older = older;
    device->older_is_new = true;
    memset(device->kept, 0, sizeof(device->kept));
    device->kept[ML_KEPT_LATEST].sample.has_others = latest.has_others;
    device->kept[ML_KEPT_LATEST].sample.others = latest.others;
}

/* The first allocation in a space: its process now has entries on the device. */
static int enter(struct ml_ledger_scan *scan, uint32_t space)
{
    const struct ml_space *def =
        ml_trace_space(scan->replay.trace, scan->replay.spaces.items[space].number);
    int64_t device = ml_ledger_scan_device(scan, def->device);
    uint64_t key = entered_key(def->process, (uint32_t)device);
    enum ml_ledger_use use = use_of(scan->replay.trace, def);

    if (device < 0)
        return -ENOMEM;
    while (scan->device_of_space.len <= space)
        if (ml_vec_push(&scan->device_of_space, 0) < 0)
            return -ENOMEM;
    scan->device_of_space.items[space] = (uint32_t)device + 1;
    if (scan->devices.items[device].use < use)
        scan->devices.items[device].use = use;
    if (older_in(scan->replay.trace, def) != ML_OLDER_NONE)
        find_older(&scan->devices.items[device], older_in(scan->replay.trace, def));
    if (ml_map_get(&scan->entered, key, NULL))
        return 0;
    if (ml_vec_push(&scan->devices.items[device].users.running,
                    scan->replay.spaces.items[space].process) < 0)
        return -ENOMEM;
    if (scan->previous_ns <= scan->time_ns)
        scan->devices.items[device].ended_ns = 0;
    return ml_map_put(&scan->entered, key, 1);
}

/* Removes the process that ends from the users. Returns its index in the replay. */
static uint32_t take_user(const struct ml_ledger_scan *scan, struct ml_ledger_users *users,
                          uint32_t process)
{
    uint32_t found = 0;
    size_t kept = 0;

    for (size_t i = 0; i < users->running.len; i++) {
        uint32_t index = users->running.items[i];

        if (scan->replay.processes.items[index].number == process)
            found = index;
        else
            users->running.items[kept++] = index;
    }
    users->running.len = kept;
    return found;
}

int ml_ledger_scan_use(struct ml_ledger_scan *scan, uint32_t space)
{
    const struct ml_space *def =
        ml_trace_space(scan->replay.trace, scan->replay.spaces.items[space].number);
    int64_t device = ml_ledger_scan_device(scan, def->device);
    enum ml_ledger_use use = use_of(scan->replay.trace, def);

    if (device >= 0 && scan->devices.items[device].use < use)
        scan->devices.items[device].use = use;
    return device < 0 ? -ENOMEM : 0;
}

int ml_ledger_scan_enter(struct ml_ledger_scan *scan, uint32_t space)
{
    const struct ml_replay_space *replayed = &scan->replay.spaces.items[space];
    int r = enter(scan, space);

    if (r == 0 && replayed->ended) { /* its memory is gone */
        uint32_t device = scan->device_of_space.items[space] - 1;
        uint32_t number = scan->replay.processes.items[replayed->process].number;

        ml_map_take(&scan->entered, entered_key(number, device), NULL);
        take_user(scan, &scan->devices.items[device].users, number);
    }
    return r;
}

/* ---- Plateaus ---------------------------------------------------------- */

static bool is_host(const struct ml_ledger_scan_device *device)
{
    return strcmp(device->name, ML_LEDGER_HOST) == 0;
}

static struct ml_ledger_moment now(const struct ml_ledger_scan *scan, uint64_t time_ns)
{
    return (struct ml_ledger_moment){scan->replay.events, time_ns};
}

/* The moment before the current event. */
static struct ml_ledger_moment just_before(const struct ml_ledger_scan *scan)
{
    return (struct ml_ledger_moment){scan->replay.events - 1, scan->previous_ns};
}

/* The index of the device in the replay, -1: it has no allocations yet. */
static int64_t replayed_device(const struct ml_ledger_scan *scan,
                               const struct ml_ledger_scan_device *device)
{
    int64_t on = ml_intern_find(&scan->replay.device_names, device->name, strlen(device->name));

    return on >= 0 && (size_t)on < scan->replay.devices.len ? on : -1;
}

/* The bytes of blocks on the device. */
static uint64_t block_bytes(const struct ml_ledger_scan *scan,
                            const struct ml_ledger_scan_device *device)
{
    int64_t on = replayed_device(scan, device);

    return on >= 0 ? scan->replay.devices.items[on].levels[MEMLEDGER_BLOCK].live_bytes : 0;
}

static void end_plateaus(struct ml_ledger_scan_device *device, struct ml_ledger_moment last)
{
    for (int i = 0; i < ML_LEDGER_KEPT; i++)
        ml_plateau_end(&device->kept[i], last);
}

/* ---- Allocations and frees --------------------------------------------- */

/* The replay has just read this allocation. */
static void note_booked(struct ml_ledger_scan *scan, struct ml_ledger_scan_device *device,
                        const struct ml_replay_device *replayed)
{
    const struct ml_gauge *gauge = &replayed->levels[device->base_level];
    struct ml_ledger_sample here = {.event = scan->replay.events, .time_ns = gauge->peak_time_ns};

    if (gauge->peak_bytes <= device->booked_bytes)
        return;
    device->booked_bytes = gauge->peak_bytes;
    ml_plateau_begin(&device->kept[ML_KEPT_BOOKED], &here,
                     replayed->levels[MEMLEDGER_BLOCK].live_bytes);
}

static bool is_entered(const struct ml_ledger_scan *scan, uint32_t space)
{
    return space < scan->device_of_space.len && scan->device_of_space.items[space] > 0;
}

/* A driver allocation or free ends the plateaus of its device; if driver calls are not recorded,
 * one of the lowest recorded level does. Blocks change within a plateau. */
static int on_memory(struct ml_ledger_scan *scan, const struct ml_event *event)
{
    bool is_alloc = event->kind == ML_ALLOC || event->kind == ML_ALLOC_EX;
    uint32_t space = scan->replay.last_space;
    const struct ml_replay_space *replayed = &scan->replay.spaces.items[space];
    const struct ml_replay_device *on = &scan->replay.devices.items[replayed->device];
    struct ml_ledger_scan_device *device;
    int r = is_alloc && !is_entered(scan, space) ? enter(scan, space) : 0;

    if (r < 0 || !is_entered(scan, space))
        return r;
    device = &scan->devices.items[scan->device_of_space.items[space] - 1];
    if (replayed->level == device->base_level || is_host(device))
        end_plateaus(device, just_before(scan));
    else if (replayed->level == MEMLEDGER_BLOCK)
        for (int i = 0; i < ML_LEDGER_KEPT; i++)
            ml_plateau_blocks(&device->kept[i], on->levels[MEMLEDGER_BLOCK].live_bytes,
                              now(scan, event->time_ns));
    if (is_alloc)
        note_booked(scan, device, on);
    return 0;
}

/* ---- Samples ----------------------------------------------------------- */

/* Of two equal samples the one read between two driver calls fits the book better. If the figure
 * was valid all the time, the first is as good. */
static bool is_higher(const struct ml_ledger_sample *a, const struct ml_ledger_plateau *than)
{
    const struct ml_ledger_sample *b = &than->sample;

    if (b->event == 0 || a->used != b->used)
        return b->event == 0 || a->used > b->used;
    return !than->open && (a->bits & ML_SAMPLE_INSIDE) > (b->bits & ML_SAMPLE_INSIDE);
}

static bool is_as_high(const struct ml_ledger_scan_device *device,
                       const struct ml_ledger_sample *sample)
{
    return !device->kept[ML_KEPT_PEAK].open && !device->kept[ML_KEPT_PEAK_AGAIN].open &&
           device->kept[ML_KEPT_PEAK].sample.used == sample->used;
}

/* Of equal peaks, chooses the one whose blocks explain the most. */
static void choose_peak(struct ml_ledger_scan_device *device)
{
    struct ml_ledger_plateau *peak = &device->kept[ML_KEPT_PEAK];
    const struct ml_ledger_plateau *again = &device->kept[ML_KEPT_PEAK_AGAIN];

    if (again->sample.event > 0 && again->sample.used == peak->sample.used &&
        again->most_bytes > peak->most_bytes &&
        (again->sample.bits & ML_SAMPLE_INSIDE) >= (peak->sample.bits & ML_SAMPLE_INSIDE))
        *peak = *again;
    device->kept[ML_KEPT_PEAK_AGAIN] = (struct ml_ledger_plateau){0};
}

/* The same for samples of one moment. */
static bool is_later(const struct ml_ledger_sample *a, const struct ml_ledger_sample *b)
{
    return b->event == 0 || a->time_ns != b->time_ns || (a->bits & ML_SAMPLE_INSIDE) ||
           !(b->bits & ML_SAMPLE_INSIDE);
}

static bool is_kept(const struct ml_ledger_scan *scan, const struct ml_ledger_scan_device *device,
                    enum ml_ledger_kept as, const struct ml_ledger_sample *sample)
{
    switch (as) {
    case ML_KEPT_LATEST: return true;
    case ML_KEPT_PEAK: return is_higher(sample, &device->kept[as]);
    case ML_KEPT_PEAK_AGAIN: return is_as_high(device, sample);
    case ML_KEPT_TIME:
        return sample->time_ns <= scan->time_ns && is_later(sample, &device->kept[as].sample);
    case ML_KEPT_LAST: return sample->bits & ML_SAMPLE_LAST;
    case ML_KEPT_INSIDE: return sample->bits & ML_SAMPLE_INSIDE;
    case ML_KEPT_WHOLE: return sample->left_count == 0;
    default: return false;
    }
}

static void keep(struct ml_ledger_scan *scan, struct ml_ledger_scan_device *device,
                 const struct ml_ledger_sample *sample)
{
    uint64_t blocks = block_bytes(scan, device);

    if (device->kept[ML_KEPT_LATEST].sample.event == 0 && device->use == ML_LEDGER_NONE) {
        device->has_before = true;
        device->before = sample->used;
    }
    for (int i = 0; i < ML_LEDGER_KEPT; i++) {
        struct ml_ledger_plateau *kept = &device->kept[i];

        if (kept->sample.bits && kept->sample.used != sample->used)
            ml_plateau_end(kept, just_before(scan));
        if (i == ML_KEPT_PEAK_AGAIN && !kept->open)
            choose_peak(device);
        if (is_kept(scan, device, (enum ml_ledger_kept)i, sample))
            ml_plateau_begin(kept, sample, blocks);
    }
}

/* ---- The host ---------------------------------------------------------- */

static void leave_host(struct ml_ledger_scan *scan, uint32_t process)
{
    uint64_t bytes;

    if (ml_map_take(&scan->resident, process, &bytes))
        scan->resident_bytes -= bytes;
}

static int set_resident(struct ml_ledger_scan *scan, uint32_t number, uint64_t bytes)
{
    const struct ml_process *process = ml_trace_process(scan->replay.trace, number);

    leave_host(scan, number);
    if (process->how == ML_EXECED && process->parent >= 0 &&
        ml_trace_process(scan->replay.trace, (uint32_t)process->parent)->pid == process->pid)
        leave_host(scan, (uint32_t)process->parent); /* the process before its exec */
    if (ml_map_put(&scan->resident, number, bytes) < 0)
        return -ENOMEM;
    scan->resident_bytes += bytes;
    return 0;
}

/* Else it is of the whole system, or measured in another way. */
static bool is_resident(uint64_t bits)
{
    return (bits & ML_SAMPLE_BY_PROCESS) && !(bits & ML_SAMPLE_SHARE) &&
           bits >> ML_SAMPLE_PROCESS_SHIFT > 0;
}

static uint32_t sampled_process(uint64_t bits)
{
    return (uint32_t)(bits >> ML_SAMPLE_PROCESS_SHIFT) - 1;
}

/* The resident memory of one process; the figure of the host is the sum. */
static int on_host_sample(struct ml_ledger_scan *scan, struct ml_ledger_scan_device *device,
                          struct ml_ledger_sample *sample, uint64_t bytes)
{
    if (!is_resident(sample->bits))
        return 0;
    if (set_resident(scan, sampled_process(sample->bits), bytes) < 0)
        return -ENOMEM;
    sample->used = scan->resident_bytes;
    sample->bits = ML_SAMPLE_USED;
    keep(scan, device, sample);
    return 0;
}

/* ---- All samples ------------------------------------------------------- */

/* A sample may still be running when the end of a process is recorded. */
static bool is_stale(struct ml_ledger_scan_device *device, const struct ml_ledger_sample *sample)
{
    if (sample->time_ns > device->stale_ns || sample->used != device->stale_used)
        device->stale_ns = 0;
    return device->stale_ns > 0;
}

/* Whether the sample matches the booked memory, without processes that have left; or -ENOMEM. */
static int is_settled(struct ml_ledger_scan *scan, struct ml_ledger_scan_device *device,
                      struct ml_ledger_sample *sample)
{
    int64_t on = replayed_device(scan, device);
    bool settled = true;
    int r = 0;

    if (is_stale(device, sample))
        return false;
    if (on >= 0 && device->base_level > 0)
        r = ml_ledger_find_left(&scan->lives, &scan->replay, (uint32_t)on, device->base_level,
                                &device->users, sample, &settled);
    return r < 0 ? r : settled;
}

static void note_inside(const struct ml_ledger_scan *scan, struct ml_ledger_scan_device *device,
                        const struct ml_ledger_sample *sample)
{
    if (!(sample->bits & ML_SAMPLE_INSIDE))
        return;
    if (sample->time_ns <= scan->time_ns)
        device->inside_ns[0] = sample->time_ns;
    else if (device->inside_ns[1] == 0)
        device->inside_ns[1] = sample->time_ns;
}

/* The recorder enters all memory of its process as older, and then takes a sample. The collector
 * reports others only once it has known them for a while. */
static void find_others(const struct ml_ledger_scan *scan, struct ml_ledger_scan_device *device,
                        struct ml_ledger_sample *sample)
{
    int64_t on = replayed_device(scan, device);
    uint64_t booked;

    if (!device->older_is_new || !(sample->bits & ML_SAMPLE_INSIDE) || on < 0)
        return;
    device->older_is_new = false;
    booked = scan->replay.devices.items[on].levels[device->base_level].live_bytes;
    if (sample->has_others || booked > sample->used)
        return;
    sample->has_others = true;
    sample->others = sample->used - booked;
}

static int on_sample(struct ml_ledger_scan *scan, const struct ml_event *event)
{
    int64_t index = ml_ledger_scan_device(scan, (uint32_t)event->args[0]);
    struct ml_ledger_scan_device *device;
    int settled;
    struct ml_ledger_sample *latest, sample = {
                                         .event = scan->replay.events,
                                         .time_ns = event->time_ns,
                                         .bits = event->args[1],
                                         .used = event->args[2],
                                         .free = event->args[3],
                                         .total = event->args[4],
                                     };

    if (index < 0)
        return -ENOMEM;
    device = &scan->devices.items[index];
    latest = &device->kept[ML_KEPT_LATEST].sample;
    if (is_host(device))
        return on_host_sample(scan, device, &sample, event->args[5]);
    sample.has_others = latest->has_others;
    sample.others = latest->others;
    if ((sample.bits & ML_SAMPLE_BY_PROCESS) && sample.bits >> ML_SAMPLE_PROCESS_SHIFT == 0) {
        sample.has_others = true;
        sample.others = event->args[5];
    }
    find_others(scan, device, &sample);
    settled = sample.bits & ML_SAMPLE_USED ? is_settled(scan, device, &sample) : false;
    if (settled > 0) {
        note_inside(scan, device, &sample);
        keep(scan, device, &sample);
    } else {
        latest->has_others = sample.has_others;
        latest->others = sample.others;
    }
    return settled < 0 ? settled : 0;
}

/* A process of the device, or the recording, is about to end. */
static void note_end(struct ml_ledger_scan_device *device, struct ml_ledger_moment last,
                     uint64_t time_ns)
{
    end_plateaus(device, last);
    device->kept[ML_KEPT_BEFORE_END] = device->kept[ML_KEPT_WHOLE];
    device->end = (struct ml_ledger_moment){last.event, time_ns};
}

/* Samples before an end say nothing about the time after it, unless the driver had reclaimed all
 * memory by then. */
static void pass_end(const struct ml_ledger_lives *lives, struct ml_ledger_scan_device *device,
                     uint32_t process, uint64_t time_ns, const struct ml_ledger_plateau *sampled)
{
    bool holds = ml_ledger_has_left(lives, &sampled->sample, process);

    device->kept[ML_KEPT_TIME] = holds ? *sampled : (struct ml_ledger_plateau){0};
    device->kept[ML_KEPT_TIME].open = holds;
    if (device->users.running.len == 0)
        device->ended_ns = time_ns;
}

/* A sample right after the end with the same value as before it was taken before it. */
static void note_stale(const struct ml_ledger_scan *scan, struct ml_ledger_scan_device *device,
                       uint32_t index, uint64_t time_ns)
{
    const struct ml_ledger_sample *latest = &device->kept[ML_KEPT_LATEST].sample;
    uint32_t process = scan->replay.processes.items[index].number;
    int64_t on = replayed_device(scan, device);

    if (latest->event == 0 || ml_ledger_has_left(&scan->lives, latest, process) || on < 0 ||
        ml_ledger_given(&scan->replay, index, (uint32_t)on, device->base_level) == 0)
        return;
    device->stale_ns = time_ns + STALE_NS;
    device->stale_used = latest->used;
}

static void on_process_end(struct ml_ledger_scan *scan, const struct ml_event *event)
{
    leave_host(scan, (uint32_t)event->args[0]);
    for (uint32_t i = 0; i < scan->devices.len; i++) {
        struct ml_ledger_scan_device *device = &scan->devices.items[i];
        struct ml_ledger_plateau sampled = device->kept[ML_KEPT_TIME];

        if (!ml_map_take(&scan->entered, entered_key((uint32_t)event->args[0], i), NULL))
            continue;
        note_stale(scan, device, take_user(scan, &device->users, (uint32_t)event->args[0]),
                   event->time_ns);
        note_end(device, just_before(scan), event->time_ns);
        if (event->time_ns <= scan->time_ns)
            pass_end(&scan->lives, device, (uint32_t)event->args[0], event->time_ns, &sampled);
        if (device->users.running.len > 0) /* another process will have the last sample */
            device->kept[ML_KEPT_LAST] = (struct ml_ledger_plateau){0};
    }
}

/* The requested time has passed. */
static void pass_time(struct ml_ledger_scan *scan)
{
    for (size_t i = 0; i < scan->devices.len; i++)
        ml_plateau_end(&scan->devices.items[i].kept[ML_KEPT_TIME],
                       (struct ml_ledger_moment){scan->time_event, scan->time_ns});
}

static int look_at(struct ml_ledger_scan *scan, const struct ml_event *event)
{
    if (event->kind == ML_SAMPLE)
        return on_sample(scan, event);
    if (event->kind == ML_PROCESS_END)
        on_process_end(scan, event);
    else if (ml_changes_total(event))
        return on_memory(scan, event);
    return 0;
}

int ml_ledger_scan_feed(struct ml_ledger_scan *scan, const struct ml_event *event)
{
    int r = ml_replay_feed(&scan->replay, event);

    if (r < 0)
        return r;
    if (event->time_ns <= scan->time_ns)
        scan->time_event = scan->replay.events;
    else if (scan->previous_ns <= scan->time_ns)
        pass_time(scan);
    r = look_at(scan, event);
    scan->previous_ns = event->time_ns;
    return r;
}

static int on_event(void *ctx, const struct ml_event *event)
{
    return ml_ledger_scan_feed(ctx, event);
}

/* ---- Samples outside of the part that is fed --------------------------------- */

static void pass_gpu_sample(struct ml_ledger_scan *scan, struct ml_ledger_scan_device *device,
                            const struct ml_event *event, bool before)
{
    struct ml_ledger_sample *latest = &device->kept[ML_KEPT_LATEST].sample;
    const struct ml_ledger_sample sample = {.time_ns = event->time_ns, .bits = event->args[1]};

    if (sample.bits & ML_SAMPLE_USED) {
        latest->event = 1; /* there was one */
        note_inside(scan, device, &sample);
    }
    if (before && (sample.bits & ML_SAMPLE_BY_PROCESS) &&
        sample.bits >> ML_SAMPLE_PROCESS_SHIFT == 0) {
        latest->has_others = true;
        latest->others = event->args[5];
    }
}

bool ml_ledger_scan_counts(const struct ml_ledger_scan *scan, int64_t device,
                           const struct ml_event *sample)
{
    return is_host(&scan->devices.items[device]) ? is_resident(sample->args[1])
                                                 : sample->args[1] & ML_SAMPLE_USED;
}

int ml_ledger_scan_pass(struct ml_ledger_scan *scan, const struct ml_event *event, bool before)
{
    int64_t index;

    if (event->kind == ML_PROCESS_END && before)
        leave_host(scan, (uint32_t)event->args[0]);
    if (event->kind != ML_SAMPLE)
        return 0;
    index = ml_ledger_scan_device(scan, (uint32_t)event->args[0]);
    if (index < 0)
        return -ENOMEM;
    if (!is_host(&scan->devices.items[index]))
        pass_gpu_sample(scan, &scan->devices.items[index], event, before);
    else if (before && is_resident(event->args[1]))
        return set_resident(scan, sampled_process(event->args[1]), event->args[5]);
    return 0;
}

/* ---- The whole ------------------------------------------------------------------ */

/* Ends the processes that were still running when the recording ended. */
static void finish(struct ml_ledger_scan *scan)
{
    uint64_t end_ns = ml_trace_info(scan->replay.trace)->end_ns;

    for (size_t i = 0; i < scan->devices.len; i++) {
        struct ml_ledger_scan_device *device = &scan->devices.items[i];

        if (device->users.running.len > 0 || device->use == ML_LEDGER_NONE)
            note_end(device, now(scan, end_ns), end_ns);
        end_plateaus(device, now(scan, end_ns));
        choose_peak(device);
    }
}

int ml_ledger_scan_begin(const struct ml_trace *trace, const struct ml_ledger_opts *opts,
                         struct ml_ledger_scan *ret)
{
    int r;

    *ret = (struct ml_ledger_scan){.time_ns =
                                       opts->at.kind == ML_AT_TIME ? opts->at.time_ns : UINT64_MAX};
    r = ml_replay_init(&ret->replay, trace);
    return r < 0 ? r : find_base_levels(ret);
}

int ml_ledger_scan(const struct ml_trace *trace, const struct ml_ledger_opts *opts,
                   struct ml_ledger_scan *ret, struct ml_error *err)
{
    int r = ml_ledger_scan_begin(trace, opts, ret);

    if (r == 0)
        r = ml_ledger_lives(trace, &ret->lives, err);
    if (r == 0)
        r = ml_each_event(trace, on_event, ret, err);
    if (r == 0)
        finish(ret);
    ml_replay_release_blocks(&ret->replay); /* the book uses a separate replay */
    return r;
}

void ml_ledger_scan_release(struct ml_ledger_scan *scan)
{
    ml_replay_release(&scan->replay);
    ml_ledger_lives_release(&scan->lives);
    ml_intern_release(&scan->names);
    for (size_t i = 0; i < scan->devices.len; i++)
        ml_vec_release(&scan->devices.items[i].users.running);
    ml_vec_release(&scan->devices);
    ml_vec_release(&scan->device_of_space);
    ml_map_release(&scan->entered);
    ml_map_release(&scan->resident);
    *scan = (struct ml_ledger_scan){0};
}

/* ---- The choice -------------------------------------------------------- */

static struct ml_ledger_instant at_sample(const struct ml_ledger_plateau *plateau)
{
    return (struct ml_ledger_instant){plateau->sample,
                                      {plateau->sample.event, plateau->sample.time_ns}};
}

static struct ml_ledger_instant at_most(const struct ml_ledger_plateau *plateau)
{
    return (struct ml_ledger_instant){plateau->sample, plateau->most};
}

static struct ml_ledger_instant at_last(const struct ml_ledger_plateau *plateau)
{
    return (struct ml_ledger_instant){plateau->sample, plateau->last};
}

static struct ml_ledger_instant without_sample(uint64_t event, uint64_t time_ns)
{
    return (struct ml_ledger_instant){.moment = {event, time_ns}};
}

static struct ml_ledger_instant at_end(const struct ml_ledger_scan_device *device)
{
    if (device->kept[ML_KEPT_LAST].sample.event > 0)
        return at_sample(&device->kept[ML_KEPT_LAST]);
    if (device->kept[ML_KEPT_INSIDE].sample.event > 0)
        return at_last(&device->kept[ML_KEPT_INSIDE]);
    if (device->kept[ML_KEPT_BEFORE_END].sample.event > 0)
        return at_last(&device->kept[ML_KEPT_BEFORE_END]);
    return without_sample(device->end.event, device->end.time_ns);
}

struct ml_ledger_instant ml_ledger_instant(const struct ml_ledger_scan *scan,
                                           const struct ml_ledger_scan_device *device,
                                           const struct ml_ledger_opts *opts)
{
    uint64_t end_ns = ml_trace_info(scan->replay.trace)->end_ns;

    if (opts->at.kind == ML_AT_END)
        return at_end(device);
    if (opts->at.kind == ML_AT_PEAK && device->kept[ML_KEPT_PEAK].sample.event > 0)
        return at_most(&device->kept[ML_KEPT_PEAK]);
    if (opts->at.kind == ML_AT_PEAK)
        return at_most(&device->kept[ML_KEPT_BOOKED]);
    if (device->kept[ML_KEPT_TIME].sample.event > 0)
        return at_last(&device->kept[ML_KEPT_TIME]);
    return without_sample(scan->time_event, ml_min_u64(opts->at.time_ns, end_ns));
}
