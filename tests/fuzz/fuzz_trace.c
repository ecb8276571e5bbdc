/* fuzz_trace.c: any bytes as a trace: open it, read every name and every event.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz.h"

#include <string.h>

#include "trace.h"
#include "trace_sample.h"

/* Each caller is one less deep, so that following them ends. Those that were inlined have higher
 * numbers. */
static void look_at_stack(const struct ml_trace *t, uint32_t number)
{
    const struct ml_stack *s = ml_trace_stack(t, number);

    FUZZ_REQUIRE(s->depth <= 4096);
    FUZZ_REQUIRE(ml_trace_frame(t, s->frame) != NULL);
    FUZZ_REQUIRE(s->caller == 0 || s->depth == ml_trace_stack(t, s->caller)->depth + 1);
    if (s->caller > number)
        look_at_stack(t, s->caller);
}

static void look_at_stacks(const struct ml_trace *t)
{
    for (uint32_t i = 0; i <= ml_trace_libraries(t); i++)
        FUZZ_REQUIRE(ml_trace_string(t, ml_trace_library(t, i)->path, NULL) != NULL);
    for (uint32_t i = 0; i <= ml_trace_frames(t); i++)
        FUZZ_REQUIRE(ml_trace_frame(t, i)->library >= -1);
    for (uint32_t i = 1; i <= ml_trace_stacks(t); i++)
        look_at_stack(t, i);
}

static void look_at_names(const struct ml_trace *t)
{
    uint32_t len;

    for (uint32_t i = 0; i <= ml_trace_strings(t); i++) {
        const char *text = ml_trace_string(t, i, &len);
        FUZZ_REQUIRE(text[len] == '\0');
    }
    for (uint32_t i = 0; i <= ml_trace_processes(t); i++)
        FUZZ_REQUIRE(ml_trace_process(t, i)->parent < (int64_t)i);
    for (uint32_t i = 0; i <= ml_trace_threads(t); i++)
        FUZZ_REQUIRE(ml_trace_process(t, ml_trace_thread(t, i)->process) != NULL);
    for (uint32_t i = 0; i <= ml_trace_spaces(t); i++)
        FUZZ_REQUIRE(ml_trace_string(t, ml_trace_space(t, i)->name, NULL) != NULL);
    for (uint32_t i = 1; i <= ml_trace_scopes(t); i++)
        FUZZ_REQUIRE(ml_trace_scope(t, i)->parent < i);
    for (uint32_t i = 0; i <= ml_trace_objects(t); i++)
        FUZZ_REQUIRE(ml_trace_object(t, i)->domain < (int64_t)i);
    look_at_stacks(t);
    FUZZ_REQUIRE(ml_trace_setting(t, "no such key \x01") == NULL);
}

/* @return events read; *ret_code is 0 or the failure that ended it */
static uint64_t read_events(const struct ml_trace *t, uint64_t from_ns, uint64_t to_ns,
                            int *ret_code)
{
    struct ml_error err = {0};
    const struct ml_event *batch;
    struct ml_cursor *c;
    uint64_t seen = 0;
    int n;

    FUZZ_REQUIRE(!ml_cursor_open(t, from_ns, to_ns, &c, &err));
    while ((n = ml_cursor_next(c, &batch, &err)) > 0) {
        for (int i = 0; i < n; i++) {
            FUZZ_REQUIRE(batch[i].time_ns >= from_ns && batch[i].time_ns <= to_ns);
            FUZZ_REQUIRE(ml_shapes[batch[i].kind].name);
        }
        seen += (uint64_t)n;
    }
    FUZZ_REQUIRE(n == 0 || (err.code == n && err.text[0]));
    *ret_code = n;
    ml_cursor_free(c);
    return seen;
}

static void read_trace(const struct ml_trace *t, bool salvage)
{
    const struct ml_trace_info *info = ml_trace_info(t);
    uint64_t seen;
    int code;

    look_at_names(t);
    seen = read_events(t, 0, UINT64_MAX, &code);
    FUZZ_REQUIRE(code ? seen <= info->events : seen == info->events);
    FUZZ_REQUIRE(!salvage || !code);
    read_events(t, info->end_ns / 3, info->end_ns / 3 * 2, &code);
    FUZZ_REQUIRE(!salvage || !code);
    FUZZ_REQUIRE(info->ignored_bytes <= info->file_bytes);
    FUZZ_REQUIRE(salvage || (!info->damaged_blocks && !info->damaged_events));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    for (int salvage = 0; salvage < 2; salvage++) {
        struct ml_error err = {0};
        struct ml_trace *t = NULL;
        int code = ml_bytes_open(data, len, salvage, &t, &err);

        FUZZ_REQUIRE(code <= 0 && (code == 0) == (t != NULL));
        FUZZ_REQUIRE(!code || (err.code == code && strstr(err.text, "sample.mled: ")));
        if (t)
            read_trace(t, salvage);
        ml_trace_free(t);
    }
    return 0;
}
