/* job_bands.c: see job_bands.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "job_bands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "breakdown_keys.h"
#include "checkpoints.h"
#include "cuda_spaces.h"
#include "process_ranks.h"
#include "timeline_window.h"

struct column {
    uint64_t low_bytes, high_bytes;
};

typedef ML_VEC(struct column) column_list;

/* A rank, or a trace without ranks. */
struct member {
    uint32_t rank;  /* 1 + its number; 0: none */
    size_t trace;   /* the first one that has it */
    uint64_t peaks; /* of its processes in the whole run, to choose those that are shown */
    column_list columns;
};

struct job {
    const struct ml_trace *const *traces;
    size_t count;
    const struct ml_job_opts *opts;
    struct ml_columns columns; /* of the picture */
    ML_VEC(struct member) members;
    column_list part; /* one device of one process */
    struct ml_job_bands *ret;
};

/* What is needed of one trace. */
struct source {
    const struct ml_trace *trace;
    size_t index;
    struct ml_replay end;
    struct ml_rank_table ranks;
    struct ml_arena arena;
};

/* ---- The axis ----------------------------------------------------------------- */

static int place_traces(struct job *job)
{
    uint64_t first_ns = UINT64_MAX;

    for (size_t i = 0; i < job->count; i++)
        first_ns = ml_min_u64(first_ns, ml_trace_info(job->traces[i])->start_wall_ns);
    job->ret->start_wall_ns = first_ns;
    for (size_t i = 0; i < job->count; i++) {
        const struct ml_trace_info *info = ml_trace_info(job->traces[i]);
        struct ml_job_trace trace = {.start_ns = info->start_wall_ns - first_ns};

        trace.end_ns = trace.start_ns + info->end_ns;
        job->ret->end_ns = ml_max_u64(job->ret->end_ns, trace.end_ns);
        if (ml_vec_push(&job->ret->traces, trace) < 0)
            return -ENOMEM;
    }
    return 0;
}

static void divide_time(struct job *job)
{
    uint64_t from_ns = ml_min_u64(job->opts->from_ns, job->ret->end_ns);
    uint64_t to_ns = ml_min_u64(job->opts->to_ns, job->ret->end_ns);

    job->columns =
        (struct ml_columns){.from_ns = from_ns,
                            .span_ns = ml_max_u64(to_ns > from_ns ? to_ns - from_ns : 1, 1),
                            .of = job->opts->columns,
                            .count = job->opts->columns};
}

/* The column that contains a moment; the first or the last if none does. */
static size_t column_at(const struct job *job, uint64_t time_ns)
{
    const struct ml_columns *c = &job->columns;
    uint64_t past_ns = time_ns > c->from_ns ? time_ns - c->from_ns : 0;

    return past_ns >= c->span_ns ? c->of - 1 : (size_t)((ml_u128)past_ns * c->of / c->span_ns);
}

/* ---- Members ------------------------------------------------------------------- */

static struct member *member_of(struct job *job, uint32_t rank, size_t trace)
{
    struct member member = {.rank = rank, .trace = trace};
    struct member *found;

    for (size_t i = 0; i < job->members.len; i++) {
        found = &job->members.items[i];
        if (found->rank == rank && (rank || found->trace == trace))
            return found;
    }
    for (size_t i = 0; i < job->columns.count; i++)
        if (ml_vec_push(&member.columns, ((struct column){0})) < 0)
            goto out;
    if (ml_vec_push(&job->members, member) == 0)
        return &job->members.items[job->members.len - 1];
out:
    ml_vec_release(&member.columns);
    return NULL;
}

/* The rank of the process that a band is named after; of one without a rank, and of several
 * processes together, 0. */
static int rank_of_band(struct source *source, const struct ml_band *band, uint32_t *ret)
{
    *ret = 0;
    if (source->ranks.ranks.len == 1) {
        *ret = source->ranks.ranks.items[0];
        return 0;
    }
    for (size_t i = 0; !band->rest && i < source->end.processes.len; i++) {
        uint32_t number = source->end.processes.items[i].number;
        const char *text = ml_key_text(ML_KEY_PROCESS, &source->end, NULL, number, &source->arena);

        if (!text)
            return -ENOMEM;
        if (strcmp(text, band->name) == 0)
            *ret = ml_rank_table_of(&source->ranks, number);
    }
    return 0;
}

/* ---- One trace ----------------------------------------------------------------- */

/* The lowest and the highest value of each column of the picture that the trace's columns touch. */
static void spread(struct job *job, const struct ml_columns *from, uint64_t start_ns,
                   const struct ml_bands *bands, size_t band)
{
    for (size_t i = 0; i < from->count; i++) {
        uint64_t a = bands->moments.items[2 * i].bytes[band];
        uint64_t b = bands->moments.items[2 * i + 1].bytes[band];
        uint64_t end_ns = start_ns + ml_columns_edge_ns(from, i + 1);
        size_t last = column_at(job, end_ns > 0 ? end_ns - 1 : 0);

        for (size_t k = column_at(job, start_ns + ml_columns_edge_ns(from, i)); k <= last; k++) {
            struct column *c = &job->part.items[k];

            c->low_bytes = ml_min_u64(c->low_bytes, ml_min_u64(a, b));
            c->high_bytes = ml_max_u64(c->high_bytes, ml_max_u64(a, b));
        }
    }
}

/* Before its start and after its end a trace has no memory. */
static void set_ends(struct job *job, const struct ml_job_trace *trace)
{
    for (size_t i = 0; i < job->columns.count; i++) {
        struct column *c = &job->part.items[i];

        if (c->low_bytes == UINT64_MAX || ml_columns_edge_ns(&job->columns, i) < trace->start_ns ||
            ml_columns_edge_ns(&job->columns, i + 1) > trace->end_ns + 1)
            c->low_bytes = 0;
    }
}

static int add_part(struct job *job, struct source *source, const struct ml_columns *columns,
                    const struct ml_bands *bands, size_t band)
{
    const struct ml_job_trace *trace = &job->ret->traces.items[source->index];
    struct member *member;
    uint32_t rank;
    int r = rank_of_band(source, &bands->list[band], &rank);

    ml_vec_clear(&job->part);
    for (size_t i = 0; r == 0 && i < job->columns.count; i++)
        r = ml_vec_push(&job->part, ((struct column){.low_bytes = UINT64_MAX}));
    member = r == 0 ? member_of(job, rank, source->index) : NULL;
    if (!member)
        return -ENOMEM;
    spread(job, columns, trace->start_ns, bands, band);
    set_ends(job, trace);
    for (size_t i = 0; i < job->columns.count; i++) {
        member->columns.items[i].low_bytes += job->part.items[i].low_bytes;
        member->columns.items[i].high_bytes += job->part.items[i].high_bytes;
    }
    return 0;
}

/* @device  NULL: all */
static int add_device(struct job *job, struct source *source, const char *device,
                      struct ml_error *err)
{
    struct ml_job_trace *trace = &job->ret->traces.items[source->index];
    const struct ml_bands_opts opts = {.by = ML_BANDS_PROCESS, .device = device};
    uint64_t from_ns = ml_max_u64(job->columns.from_ns, trace->start_ns);
    uint64_t to_ns = ml_min_u64(job->columns.from_ns + job->columns.span_ns, trace->end_ns);
    struct ml_columns columns;
    struct ml_bands bands;
    int r;

    if (from_ns > to_ns)
        return 0;
    columns = ml_window_columns(source->trace, from_ns - trace->start_ns,
                                ml_max_u64(to_ns - trace->start_ns, 1),
                                2 * (column_at(job, to_ns) - column_at(job, from_ns) + 1));
    r = ml_window_bands(source->trace, &opts, &columns, &bands, err);
    for (size_t i = 0; r == 0 && i < bands.count; i++)
        r = add_part(job, source, &columns, &bands, i);
    ml_bands_release(&bands);
    return r;
}

static bool is_gpu(const char *device)
{
    return strncmp(device, ML_CUDA_DEVICE_PREFIX, strlen(ML_CUDA_DEVICE_PREFIX)) == 0;
}

/* GPUs if the trace has memory on any. */
static int add_devices(struct job *job, struct source *source, struct ml_error *err)
{
    const struct ml_replay *end = &source->end;
    bool any = false;
    int r = 0;

    if (job->opts->device)
        return add_device(job, source, job->opts->device, err);
    for (uint32_t i = 0; r == 0 && i < end->devices.len; i++) {
        const char *name = ml_intern_get(&end->device_names, i, NULL);

        if (end->devices.items[i].bytes.peak_bytes > 0 && is_gpu(name)) {
            r = add_device(job, source, name, err);
            any = true;
        }
    }
    return any ? r : add_device(job, source, NULL, err);
}

/* Ranks without memory have a member too. */
static int add_peaks(struct job *job, struct source *source)
{
    for (size_t i = 0; i < source->end.processes.len; i++) {
        const struct ml_replay_process *p = &source->end.processes.items[i];
        struct member *member =
            member_of(job, ml_rank_table_of(&source->ranks, p->number), source->index);

        if (!member)
            return -ENOMEM;
        member->peaks += p->bytes.peak_bytes;
    }
    return 0;
}

static int add_trace(struct job *job, size_t index, struct ml_error *err)
{
    struct source source = {.trace = job->traces[index], .index = index};
    int r = ml_totals_at_end(source.trace, &source.end, err);

    if (r == 0)
        r = ml_rank_table_init(&source.ranks, source.trace);
    if (r == 0)
        r = add_peaks(job, &source);
    if (r == 0)
        r = add_devices(job, &source, err);
    if (r == 0)
        job->ret->traces.items[index].health = ml_health_of(&source.end);
    ml_rank_table_release(&source.ranks);
    ml_replay_release(&source.end);
    ml_arena_release(&source.arena);
    return r;
}

/* ---- Bands --------------------------------------------------------------------- */

/* Ranks by their numbers, then traces without ranks in their order. */
static int by_number(const void *a, const void *b)
{
    const struct member *x = a, *y = b;

    if (!x->rank != !y->rank)
        return x->rank ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->trace > y->trace) - (x->trace < y->trace);
}

static int highest_first(const void *a, const void *b)
{
    const struct member *x = a, *y = b;

    if (x->peaks != y->peaks)
        return x->peaks > y->peaks ? -1 : 1;
    return by_number(a, b);
}

static const char *name_of(struct job *job, const struct member *member)
{
    struct ml_buf text = {0};
    const char *ret = NULL;
    int r = member->rank ? ml_buf_printf(&text, "rank %u", member->rank - 1)
                         : ml_buf_puts(&text, job->opts->names[member->trace]);

    if (r == 0)
        ret = ml_arena_dup(&job->ret->bands.arena, (const char *)text.data, text.len);
    ml_buf_release(&text);
    return ret;
}

/* The members with the highest peaks are bands of their own, in the order of their numbers. */
static int choose_bands(struct job *job)
{
    struct ml_bands *bands = &job->ret->bands;
    size_t shown = job->members.len;

    ml_vec_sort(&job->members, highest_first);
    if (shown > ML_BANDS_MAX)
        shown = ML_BANDS_MAX - 1;
    if (shown > 0)
        qsort(job->members.items, shown, sizeof(job->members.items[0]), by_number);
    for (size_t i = 0; i < shown; i++) {
        bands->list[i].name = name_of(job, &job->members.items[i]);
        if (!bands->list[i].name)
            return -ENOMEM;
    }
    bands->count = shown;
    job->ret->first_trace = shown ? job->members.items[0].trace : 0;
    if (shown < job->members.len)
        bands->list[bands->count++] = (struct ml_band){.name = "", .rest = true};
    return 0;
}

static int add_columns(struct job *job)
{
    struct ml_bands *bands = &job->ret->bands;

    for (size_t i = 0; i < job->columns.count; i++) {
        struct ml_bands_moment low = {0}, high = {0};

        for (size_t k = 0; k < job->members.len; k++) {
            const struct column *c = &job->members.items[k].columns.items[i];
            size_t band = ml_min_u64(k, bands->count - 1);

            low.bytes[band] += c->low_bytes;
            high.bytes[band] += c->high_bytes;
        }
        if (ml_bands_add(bands, &low, &high, ml_columns_edge_ns(&job->columns, i)) < 0)
            return -ENOMEM;
    }
    return 0;
}

static void begin_bands(struct job *job)
{
    const struct ml_columns *c = &job->columns;

    job->ret->bands.by = ML_BANDS_RANK;
    job->ret->bands.total = (struct ml_timeline){.from_ns = c->from_ns,
                                                 .span_ns = c->span_ns,
                                                 .begin_ns = c->from_ns,
                                                 .duration_ns = c->from_ns + c->span_ns};
}

int ml_job_bands(const struct ml_trace *const *traces, size_t count, const struct ml_job_opts *opts,
                 struct ml_job_bands *ret, struct ml_error *err)
{
    struct job job = {.traces = traces, .count = count, .opts = opts, .ret = ret};
    int r;

    *ret = (struct ml_job_bands){0};
    r = place_traces(&job);
    divide_time(&job);
    begin_bands(&job);
    for (size_t i = 0; r == 0 && i < count; i++)
        r = add_trace(&job, i, err);
    if (r == 0)
        r = choose_bands(&job);
    if (r == 0)
        r = add_columns(&job);
    for (size_t i = 0; i < job.members.len; i++)
        ml_vec_release(&job.members.items[i].columns);
    ml_vec_release(&job.members);
    ml_vec_release(&job.part);
    return r;
}

void ml_job_bands_release(struct ml_job_bands *job)
{
    ml_bands_release(&job->bands);
    ml_vec_release(&job->traces);
    *job = (struct ml_job_bands){0};
}
