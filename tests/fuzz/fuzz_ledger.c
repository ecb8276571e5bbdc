/* fuzz_ledger.c: any bytes as a trace: the books of its devices at every kind of instant. They
 * add up, or the reason is reported.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz.h"

#include "compiler.h"
#include "ledger.h"
#include "trace.h"
#include "trace_sample.h"

#define TOP 3

static void look_at_entry(const struct ml_ledger_entry *entry, unsigned depth)
{
    FUZZ_REQUIRE(entry->name && depth < 16);
    for (size_t i = 0; i < entry->entries.len; i++)
        look_at_entry(&entry->entries.items[i], depth + 1);
}

static void look_at_device(const struct ml_ledger_device *device)
{
    FUZZ_REQUIRE(device->name);
    for (size_t i = 0; i < device->book.entries.len; i++)
        look_at_entry(&device->book.entries.items[i], 0);
    FUZZ_REQUIRE(device->balanced || !device->sampled);
}

static void make_ledger(const struct ml_trace *trace, const struct ml_ledger_opts *opts)
{
    struct ml_error err = {0};
    struct ml_ledger ledger;
    int code = ml_ledger(trace, opts, &ledger, &err);

    FUZZ_REQUIRE(code <= 0);
    FUZZ_REQUIRE(!code || (err.code == code && err.text[0]));
    for (size_t i = 0; !code && i < ledger.devices.len; i++)
        look_at_device(&ledger.devices.items[i]);
    ml_ledger_release(&ledger);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const char *const devices[] = {NULL, ML_LEDGER_HOST, "0"};
    static const enum ml_at_kind instants[] = {ML_AT_PEAK, ML_AT_END,  ML_AT_TIME,
                                               ML_AT_OOM,  ML_AT_STEP, ML_AT_STEP_END};
    struct ml_error err = {0};
    struct ml_trace *trace = NULL;

    /* With salvage: more of them open, and those that open without are read alike. */
    if (ml_bytes_open(data, len, true, &trace, &err))
        return 0;
    for (size_t d = 0; d < ML_ARRAY_SIZE(devices); d++) {
        for (size_t i = 0; i < ML_ARRAY_SIZE(instants); i++)
            make_ledger(trace,
                        &(struct ml_ledger_opts){.at = {.kind = instants[i],
                                                        .time_ns = ml_trace_info(trace)->end_ns / 2,
                                                        .number = 1},
                                                 .device = devices[d],
                                                 .top = TOP});
    }
    ml_trace_free(trace);
    return 0;
}
