/* ledger.c: see ledger.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ledger.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checkpoints.h"
#include "classify.h"
#include "cuda_spaces.h"
#include "ledger_scan.h"
#include "ledger_tally.h"
#include "ledger_tree.h"
#include "samples.h"

/* ---- One device -------------------------------------------------------- */

static void take_sample(const struct ml_ledger_sample *sample, struct ml_ledger_device *device)
{
    device->sample_ns = sample->time_ns;
    device->sampled = sample->bits & ML_SAMPLE_USED;
    if (!device->sampled)
        return;
    device->has_free = sample->bits & ML_SAMPLE_FREE;
    device->has_total = sample->bits & ML_SAMPLE_TOTAL;
    device->used_bytes = sample->used;
    device->free_bytes = device->has_free ? sample->free : 0;
    device->total_bytes = device->has_total ? sample->total : 0;
    device->has_reserved = device->has_free && device->has_total && sample->used <= sample->total &&
                           sample->free <= sample->total - sample->used;
    if (device->has_reserved)
        device->reserved_bytes = sample->total - sample->used - sample->free;
}

static int add_entry(struct ml_ledger_device *device, const char *name, uint64_t bytes,
                     struct ml_arena *arena, struct ml_ledger_entry **ret)
{
    *ret = ml_ledger_add(&device->book, name, (int64_t)bytes, arena);
    if (!*ret)
        return -ENOMEM;
    device->book.bytes = ml_ledger_sum(device->book.bytes, (int64_t)bytes);
    return 0;
}

/* Managed memory is charged where and when it is touched, which is not reported. It may explain
 * memory that nothing else accounts for. */
static int add_managed(uint64_t managed, uint64_t others, struct ml_ledger_device *device,
                       struct ml_arena *arena)
{
    int64_t left = (int64_t)(device->used_bytes - others - (uint64_t)device->book.bytes);
    struct ml_ledger_entry *entry;
    int r;

    if (managed == 0 || !device->sampled || device->host)
        return 0;
    r = add_entry(device, "managed memory", left < 0 ? 0 : ml_min_u64((uint64_t)left, managed),
                  arena, &entry);
    if (r < 0)
        return r;
    entry->inferred = true;
    entry->of_bytes = managed;
    ml_ledger_settle(&device->book); /* sorts it in by size */
    return 0;
}

/* The memory of other processes according to the driver, or else the memory in use before the
 * run. A process that was under way has an entry for the latter, which may include theirs. An old
 * driver's figure includes its reserved memory, which only the second covers. */
struct others {
    const char *name; /* NULL: unknown */
    uint64_t bytes;
};

static struct others find_others(const struct ml_trace *trace,
                                 const struct ml_ledger_scan_device *scanned,
                                 const struct ml_ledger_sample *sample)
{
    const char *reserve = ml_trace_setting(trace, "gpu_used_has_reserve");
    bool has_before = scanned->has_before && scanned->older == ML_OLDER_NONE;
    bool by_driver = sample->has_others && !(reserve && has_before);

    if (!(sample->bits & ML_SAMPLE_USED) || strcmp(scanned->name, ML_LEDGER_HOST) == 0 ||
        scanned->older == ML_OLDER_ALL)
        return (struct others){0};
    if (by_driver)
        return (struct others){"other processes", sample->others};
    return has_before ? (struct others){"used before the run began", scanned->before}
                      : (struct others){0};
}

static int add_others(const struct others *others, struct ml_ledger_device *device,
                      struct ml_arena *arena)
{
    struct ml_ledger_entry *entry;

    device->others_known = others->name;
    return others->name ? add_entry(device, others->name, others->bytes, arena, &entry) : 0;
}

static void balance(struct ml_ledger_device *device)
{
    int64_t used = (int64_t)device->used_bytes, rest;

    if (!device->sampled)
        return;
    rest = ml_ledger_difference(used, device->book.bytes);
    device->unexplained_bytes = rest;
    if (used != 0)
        device->unexplained_percent = 100.0 * (double)rest / (double)device->used_bytes;
    else
        device->unexplained_percent = rest == 0 ? 0 : rest > 0 ? 100 : -100;
    ml_ledger_share(&device->book, device->used_bytes);
    device->balanced = ml_ledger_adds_up(&device->book) &&
                       ml_ledger_sum(device->book.bytes, device->unexplained_bytes) == used;
}

/* "gpu cuda:0" is a setting of the run. */
static const char *model_of(const struct ml_trace *trace, const char *device,
                            struct ml_arena *arena)
{
    char key[128];
    const char *model;

    snprintf(key, sizeof(key), "gpu %s", device);
    model = ml_trace_setting(trace, key);
    return model ? ml_arena_dup(arena, model, strlen(model)) : NULL;
}

static int fill_device(const struct ml_replay *replay, const struct ml_ledger_lives *lives,
                       const struct ml_ledger_scan_device *scanned,
                       const struct ml_ledger_sample *sample, size_t top,
                       struct ml_ledger_device *device, struct ml_arena *arena)
{
    const uint32_t *left = sample->left_count > 0 ? lives->left.items + sample->left_first : NULL;
    struct others others = find_others(replay->trace, scanned, sample);
    uint64_t managed;
    int r = ml_ledger_book(replay, scanned->name, left, sample->left_count, top, &device->book,
                           arena, &device->stray_bytes, &managed);

    take_sample(sample, device);
    if (r == 0)
        r = add_managed(managed, others.bytes, device, arena);
    if (r == 0)
        r = add_others(&others, device, arena);
    balance(device);
    return r;
}

/* Memory that the driver took during a call is booked after the call. */
static uint64_t nearest_between(const struct ml_ledger_scan_device *scanned,
                                const struct ml_ledger_sample *sample,
                                const struct ml_ledger_device *device)
{
    uint64_t before = scanned->inside_ns[0], after = scanned->inside_ns[1];
    double percent = device->unexplained_percent;

    if (!device->sampled || (sample->bits & ML_SAMPLE_INSIDE) || (percent <= 1 && percent >= -1))
        return 0;
    if (before == 0 || after == 0)
        return before ? before : after;
    return sample->time_ns - before <= after - sample->time_ns ? before : after;
}

/* What a replay up to an instant starts with. */
struct sources {
    struct ml_checkpoints checkpoints; /* the list is empty: there are none */
    bool classified;
    struct ml_classes classes; /* without checkpoints */
};

static void sources_release(struct sources *s)
{
    ml_checkpoints_release(&s->checkpoints);
    ml_classes_release(&s->classes);
}

/* @return 0, or negative errno if the trace must be read from its start; release the table in both
 *         cases */
static int start_at_checkpoint(const struct sources *s, uint64_t event, struct ml_replay *ret,
                               struct ml_classes *ret_classes)
{
    if (s->checkpoints.list.len == 0)
        return -ENOENT;
    return ml_checkpoint_restore(
        &s->checkpoints, ml_checkpoint_before_event(&s->checkpoints, event), ret, ret_classes);
}

static int start_at_begin(struct sources *s, const struct ml_trace *trace, struct ml_replay *ret,
                          struct ml_error *err)
{
    int r = s->classified ? 0 : ml_classify(trace, &s->classes, err);

    s->classified |= r == 0;
    ml_replay_release(ret);
    if (r == 0)
        r = ml_replay_init(ret, trace);
    ml_replay_classify(ret, &s->classes);
    return r;
}

/* The live table at the instant. @ret  released by the caller */
static int replay_to(const struct ml_ledger_scan *scan, struct sources *s, uint64_t event,
                     struct ml_replay *ret, struct ml_error *err)
{
    const struct ml_trace *trace = scan->replay.trace;
    struct ml_classes classes = {0};
    int r = ml_replay_init(ret, trace);

    if (r == 0 && start_at_checkpoint(s, event, ret, &classes) == 0)
        ml_replay_classify(ret, &classes);
    else if (r == 0)
        r = start_at_begin(s, trace, ret, err);
    if (r == 0)
        r = ml_replay_instant(ret, event, scan->replay.last_label_event, err);
    ml_replay_classify(ret, NULL); /* it outlives them */
    ml_classes_release(&classes);
    ml_replay_release_index(ret); /* the book finds blocks in another way */
    return r;
}

static int add_device(const struct ml_ledger_scan *scan, struct sources *sources,
                      const struct ml_ledger_scan_device *scanned,
                      const struct ml_ledger_opts *opts, struct ml_ledger *ret,
                      struct ml_error *err)
{
    const struct ml_trace *trace = scan->replay.trace;
    struct ml_ledger_instant instant = ml_ledger_instant(scan, scanned, opts);
    struct ml_ledger_device device = {
        .name = ml_arena_dup(&ret->arena, scanned->name, strlen(scanned->name)),
        .model = model_of(trace, scanned->name, &ret->arena),
        .host = strcmp(scanned->name, ML_LEDGER_HOST) == 0,
        .at_ns = instant.moment.time_ns,
    };
    struct ml_replay replay = {0};
    int r = device.name ? replay_to(scan, sources, instant.moment.event, &replay, err) : -ENOMEM;

    if (r == 0)
        r = fill_device(&replay, &scan->lives, scanned, &instant.sample, opts->top, &device,
                        &ret->arena);
    ml_replay_release(&replay);
    if (opts->at.kind == ML_AT_TIME) {
        device.ended_ns = scanned->ended_ns;
        device.between_ns = nearest_between(scanned, &instant.sample, &device);
    }
    if (r == 0)
        r = ml_vec_push(&ret->devices, device);
    if (r < 0)
        ml_ledger_entry_release(&device.book);
    return r;
}

/* ---- The selected devices ---------------------------------------------- */

static bool is_gpu(const char *name)
{
    return strncmp(name, ML_CUDA_DEVICE_PREFIX, strlen(ML_CUDA_DEVICE_PREFIX)) == 0;
}

static bool is_asked(const char *name, const char *asked)
{
    return ml_device_is(name, asked) && (is_gpu(name) || strcmp(name, ML_LEDGER_HOST) == 0);
}

static enum ml_ledger_use most_use(const struct ml_ledger_scan *scan)
{
    enum ml_ledger_use most = ML_LEDGER_NONE;

    for (size_t i = 0; i < scan->devices.len; i++)
        if (is_gpu(scan->devices.items[i].name) && scan->devices.items[i].use > most)
            most = scan->devices.items[i].use;
    return most;
}

/* Whether the book includes the device: those with the most use by the program, or, if it used
 * none, those with samples.
 * @most  the result of most_use */
static bool is_wanted(const struct ml_ledger_scan_device *device, enum ml_ledger_use most,
                      const char *asked)
{
    if (asked)
        return is_asked(device->name, asked);
    if (!is_gpu(device->name) || device->use < most)
        return false;
    return device->use != ML_LEDGER_NONE || device->kept[ML_KEPT_LATEST].sample.event > 0;
}

static uint64_t most_bytes(const struct ml_ledger_scan_device *device)
{
    return ml_max_u64(device->kept[ML_KEPT_PEAK].sample.used, device->booked_bytes);
}

static int by_most_bytes(const void *a, const void *b)
{
    const struct ml_ledger_scan_device *const *x = a, *const *y = b;
    uint64_t n = most_bytes(*x), m = most_bytes(*y);

    return n != m ? (n < m ? 1 : -1) : (*x > *y) - (*x < *y);
}

typedef ML_VEC(const struct ml_ledger_scan_device *) device_list;

/* Chooses the devices of the ledger. */
static int choose_devices(const struct ml_ledger_scan *scan, const char *asked, device_list *chosen,
                          struct ml_ledger *ret)
{
    enum ml_ledger_use most = most_use(scan);

    for (size_t i = 0; i < scan->devices.len; i++) {
        const struct ml_ledger_scan_device *device = &scan->devices.items[i];

        if (!is_wanted(device, most, asked))
            ret->bare_devices += !asked && device->use == ML_LEDGER_CONTEXT;
        else if (ml_vec_push(chosen, device) < 0)
            return -ENOMEM;
    }
    if (chosen->len > ML_LEDGER_DEVICES_MAX) {
        ml_vec_sort(chosen, by_most_bytes);
        ret->unlisted_devices = chosen->len - ML_LEDGER_DEVICES_MAX;
        chosen->len = ML_LEDGER_DEVICES_MAX;
    }
    return 0;
}

/* Whether a device other than the host has samples: an nvidia-smi log does not name its GPU. */
static bool has_samples(const struct ml_ledger_scan *scan)
{
    for (size_t i = 0; i < scan->devices.len; i++)
        if (strcmp(scan->devices.items[i].name, ML_LEDGER_HOST) != 0)
            return true;
    return false;
}

/* @asked  NULL: the GPUs that the program used */
static int no_device(const struct ml_ledger_scan *scan, const char *asked, struct ml_error *err)
{
    char known[256] = "";
    size_t used = 0;

    for (size_t i = 0; i < scan->devices.len && used < sizeof(known); i++)
        if (is_gpu(scan->devices.items[i].name))
            used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s", used ? ", " : "",
                                     scan->devices.items[i].name);
    if (asked && strcmp(asked, ML_LEDGER_HOST) == 0)
        return ml_error_set(err, -ENODEV,
                            "no host memory was recorded; 'memledger run --heap' records malloc, "
                            "and --sample-hz resident memory");
    if (known[0] && !asked)
        return ml_error_set(err, -ENODEV,
                            "the trace names %s, but has no GPU memory and no samples of a GPU",
                            known);
    if (!known[0] && scan->replay.spaces.len == 0 && has_samples(scan))
        return ml_error_set(err, -ENODEV,
                            "this trace has only samples, and no allocation to balance them "
                            "with; 'memledger summary' and 'memledger plot' show them");
    if (!known[0])
        return ml_error_set(err, -ENODEV,
                            "no GPU memory was recorded; 'memledger summary' shows the memory of "
                            "the host, and 'memledger ledger --device cpu' balances it");
    return ml_error_set(err, -ENODEV, "there is no GPU '%s' in this trace; there is %s", asked,
                        known);
}

/* cuda:2 before cuda:10 */
static int by_name(const void *a, const void *b)
{
    const struct ml_ledger_device *x = a, *y = b;
    size_t n = strlen(x->name), m = strlen(y->name);

    return n != m ? (n < m ? -1 : 1) : strcmp(x->name, y->name);
}

static int add_devices(const struct ml_ledger_scan *scan, const struct ml_ledger_opts *opts,
                       struct ml_ledger *ret, struct ml_error *err)
{
    device_list chosen = {0};
    struct sources sources = {0};
    int r = choose_devices(scan, opts->device, &chosen, ret);

    if (r == 0 && ml_checkpoints_open(scan->replay.trace, &sources.checkpoints) < 0)
        ml_checkpoints_release(&sources.checkpoints);
    for (size_t i = 0; i < chosen.len && r == 0; i++)
        r = add_device(scan, &sources, chosen.items[i], opts, ret, err);
    ml_vec_release(&chosen);
    sources_release(&sources);
    if (r == 0 && ret->devices.len == 0)
        return no_device(scan, opts->device, err);
    ml_vec_sort(&ret->devices, by_name);
    return r;
}

/* ---- The ledger -------------------------------------------------------- */

static const char *copy_setting(const struct ml_trace *trace, const char *key,
                                struct ml_arena *arena)
{
    const char *value = ml_trace_setting(trace, key);

    return value ? ml_arena_dup(arena, value, strlen(value)) : NULL;
}

/* Refusals and steps are found among the allocations; the book is then opened at their time. */
static int find_time(const struct ml_trace *trace, struct ml_ledger_opts *opts,
                     struct ml_error *err)
{
    struct ml_instant instant;
    int r;

    if (opts->at.kind != ML_AT_OOM && opts->at.kind != ML_AT_STEP &&
        opts->at.kind != ML_AT_STEP_END)
        return 0;
    r = ml_instant_find(trace, &opts->at, opts->device, &instant, err);
    opts->at = (struct ml_at){.kind = ML_AT_TIME, .time_ns = instant.time_ns};
    return r;
}

static int open_books(const struct ml_trace *trace, const struct ml_ledger_opts *opts,
                      struct ml_ledger *ret, struct ml_error *err)
{
    struct ml_ledger_scan scan;
    int r = ml_ledger_scan_near(trace, opts, &scan, err);

    if (r == -ENOENT) {
        ml_ledger_scan_release(&scan);
        *err = (struct ml_error){0};
        r = ml_ledger_scan(trace, opts, &scan, err);
    }

    if (r == 0) {
        ret->health = ml_health_of(&scan.replay);
        r = add_devices(&scan, opts, ret, err);
    }
    ml_ledger_scan_release(&scan);
    return r;
}

int ml_ledger(const struct ml_trace *trace, const struct ml_ledger_opts *opts,
              struct ml_ledger *ret, struct ml_error *err)
{
    struct ml_ledger_opts own = *opts;
    uint64_t end_ns = ml_trace_info(trace)->end_ns;
    int r;

    *ret = (struct ml_ledger){.at = opts->at};
    ret->command = copy_setting(trace, "command", &ret->arena);
    ret->host = copy_setting(trace, "host", &ret->arena);
    ret->start_wall_ns = ml_trace_info(trace)->start_wall_ns;
    r = ml_at_check_kept(trace, &own.at, err);
    if (r == 0)
        r = find_time(trace, &own, err);
    if (own.at.kind == ML_AT_TIME && own.at.time_ns > end_ns)
        ret->run_ended_ns = end_ns;
    if (r == 0)
        r = open_books(trace, &own, ret, err);
    if (r == -ENOMEM)
        ml_error_set(err, r, "out of memory");
    return r;
}

void ml_ledger_release(struct ml_ledger *ledger)
{
    for (size_t i = 0; i < ledger->devices.len; i++)
        ml_ledger_entry_release(&ledger->devices.items[i].book);
    ml_vec_release(&ledger->devices);
    ml_arena_release(&ledger->arena);
    *ledger = (struct ml_ledger){0};
}
