/* test_import_oom.c: importers when memory runs out: fail the Nth allocation, for every
 * N, and they stop with the reason, having leaked nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "fail_nth.h"
#include "importer.h"

static const struct {
    const char *format, *text;
} inputs[] = {
    {"nvidia-smi", "index, name, memory.used [MiB]\n0, H200, 5 MiB\n1, H200, 6 MiB\n"},
    {"tbd-log", "[mem] Allocate 64 bytes GPU memory (in_arg:a).\n[mem] Release GPU memory.\n"},
    {"tbd-analysis", "{\"in_arg\": [64.0, [\"(in_arg:a).\\n\", \"(in_arg:b).\\n\"]]}"},
    {"mxnet-csv", "in_arg:a,1.5\nunknown:b,2\n"},
    {"mxnet-pool-csv",
     "\"Attribute Name\",\"Requested Size\"\n\"a \"\"b\",\"8\",\"0\",\"9\",\"1\"\n"},
    {"mxnet-log", "[mxnet:profiler:gpu_memory_profiler:W] Allocating 4 with unknown memory tag "
                  "unknown:x\n[bt] (0) lib(f()+0x1) [0x7f]\n"},
    {"chrome", "{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"mm\", \"pid\": "
               "1, \"tid\": 2, "
               "\"ts\": 1, \"dur\": 9}, {\"ph\": \"i\", \"name\": \"[memory]\", \"pid\": 1, "
               "\"tid\": 2, \"ts\": 3, "
               "\"args\": {\"Bytes\": 64, \"Addr\": 4096, \"Total Allocated\": 64}}, {\"ph\": "
               "\"n\", \"name\": "
               "\"here\", \"cat\": \"d\", \"ts\": 2}, {\"ph\": \"b\", \"id\": 7, \"name\": \"t\", "
               "\"cat\": \"d\", "
               "\"ts\": 0}]}"},
};

static void count(void *ctx, const struct ml_event *event)
{
    (void)event;
    ++*(uint64_t *)ctx;
}

static int import(const struct ml_import_format *format, const char *text, uint64_t *ret_events,
                  struct ml_error *err)
{
    struct ml_import_source source;
    struct ml_import_sink sink;
    int r = ml_import_sink_open(&sink, NULL, false, err);

    if (r < 0)
        return r;
    ml_import_source_memory(&source, (const uint8_t *)text, strlen(text));
    sink.tap = count;
    sink.tap_ctx = ret_events;
    r = ml_import_run(format, &source, &sink, err);
    if (r < 0)
        ml_import_sink_abandon(&sink);
    else
        r = ml_import_sink_close(&sink, NULL, err);
    ml_import_source_release(&source);
    return r;
}

static void any_allocation_may_fail(void **state)
{
    (void)state;
    for (size_t i = 0; i < ML_ARRAY_SIZE(inputs); i++) {
        const struct ml_import_format *format = ml_import_format_find(inputs[i].format);
        uint64_t all = 0;

        assert_non_null(format);
        assert_int_equal(import(format, inputs[i].text, &all, NULL), 0);
        assert_true(all > 0);
        for (long n = 0;; n++) {
            struct ml_error err = {0};
            uint64_t events = 0;
            bool failed;
            int r;

            fail_nth(n);
            r = import(format, inputs[i].text, &events, &err);
            failed = fail_end();
            if (!failed) {
                assert_int_equal(events, all);
                break;
            }
            assert_true(r == -ENOMEM ? err.text[0] != '\0' : r == 0 && events == all);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_allocation_may_fail)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
