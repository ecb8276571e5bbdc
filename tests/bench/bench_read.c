/* bench_read.c: how fast a trace is read on one core.
 *
 *     bench_read [--repeat N] TRACE
 *
 * Reads the events through the cursor, then replays them into the live table
 * with its totals and peaks, then classifies its blocks and replays them with their
 * categories, N times in turn. Prints also what the trace holds.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench_common.h"
#include "classify.h"
#include "replay.h"
#include "trace.h"

struct contents {
    uint64_t events, lost;
    uint64_t address_sum; /* so that the fields must be there */
    uint64_t by_kind[256];
};

static int fail(const struct ml_error *err)
{
    fprintf(stderr, "bench_read: %s\n", err->text);
    return 1;
}

static int iterate(const struct ml_trace *trace, struct contents *c, struct ml_error *err)
{
    const struct ml_event *events;
    struct ml_cursor *cursor;
    int n = ml_cursor_open(trace, 0, UINT64_MAX, &cursor, err);

    if (n)
        return n;
    while ((n = ml_cursor_next(cursor, &events, err)) > 0) {
        c->events += (uint64_t)n;
        for (int i = 0; i < n; i++) {
            c->by_kind[events[i].kind]++;
            c->address_sum += events[i].addr + events[i].size + events[i].time_ns;
        }
    }
    ml_cursor_free(cursor);
    return n;
}

static int replay(const struct ml_trace *trace, struct ml_replay *r, struct ml_error *err)
{
    int result = ml_replay_init(r, trace);

    return result ? result : ml_replay_trace(r, UINT64_MAX, err);
}

/* Another replay, with the categories known from the allocation on. */
static int replay_classified(const struct ml_trace *trace, struct ml_error *err)
{
    struct ml_classes classes;
    struct ml_replay r;
    int result = ml_classify(trace, &classes, err);

    if (!result) {
        result = ml_replay_init(&r, trace);
        ml_replay_classify(&r, &classes);
        if (!result)
            result = ml_replay_trace(&r, UINT64_MAX, err);
        ml_replay_release(&r);
    }
    ml_classes_release(&classes);
    return result;
}

static int measure(const struct ml_trace *trace, uint64_t repeat, struct contents *c,
                   struct ml_error *err)
{
    struct ml_replay r;
    int result = 0;

    printf("{\"passes\": [");
    for (uint64_t i = 0; i < repeat && !result; i++) {
        uint64_t start_ns = bench_clock_ns(CLOCK_THREAD_CPUTIME_ID), middle_ns, end_ns;
        *c = (struct contents){0};
        result = iterate(trace, c, err);
        if (result)
            break;
        middle_ns = bench_clock_ns(CLOCK_THREAD_CPUTIME_ID);
        result = replay(trace, &r, err);
        end_ns = bench_clock_ns(CLOCK_THREAD_CPUTIME_ID);
        if (!result)
            result = replay_classified(trace, err);
        printf("%s{\"iterate_cpu_ns\": %llu, \"replay_cpu_ns\": %llu, \"classify_cpu_ns\": %llu}",
               i ? ", " : "", (unsigned long long)(middle_ns - start_ns),
               (unsigned long long)(end_ns - middle_ns),
               (unsigned long long)(bench_clock_ns(CLOCK_THREAD_CPUTIME_ID) - end_ns));
        c->lost = r.lost;
        if (i + 1 == repeat)
            printf("], \"peak_bytes\": %llu, ", (unsigned long long)r.bytes.peak_bytes);
        ml_replay_release(&r);
    }
    return result;
}

static void print_contents(const struct ml_trace_info *info, const struct contents *c)
{
    printf("\"events\": %llu, \"lost\": %llu, ", (unsigned long long)c->events,
           (unsigned long long)c->lost);
    printf("\"file_bytes\": %llu, \"event_bytes\": %llu, ", (unsigned long long)info->file_bytes,
           (unsigned long long)info->event_bytes);
    printf("\"allocs\": %llu, \"frees\": %llu, ",
           (unsigned long long)(c->by_kind[ML_ALLOC] + c->by_kind[ML_ALLOC_EX]),
           (unsigned long long)c->by_kind[ML_FREE]);
}

int main(int argc, char **argv)
{
    struct ml_trace_opts opts = {0};
    struct ml_trace *trace;
    struct ml_error err = {0};
    struct contents contents = {0};
    uint64_t repeat = bench_argument(argc, argv, "--repeat", 1);
    int failed;

    if (argc < 2 || !repeat)
        return 2;
    if (ml_trace_open(argv[argc - 1], &opts, &trace, &err))
        return fail(&err);
    failed = measure(trace, repeat, &contents, &err) ? fail(&err) : 0;
    if (!failed) {
        print_contents(ml_trace_info(trace), &contents);
        bench_print_end();
    }
    ml_trace_free(trace);
    return failed;
}
