/* chrome_memory.c: see chrome_memory.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "chrome_memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "compiler.h"
#include "import_limits.h"
#include "memledger/memledger.h"
#include "varint.h"

/* PyTorch's device types that have their own memory. */
static const char *const device_types[] = {
    [0] = "cpu", [1] = "cuda", [6] = "hip", [9] = "xla", [12] = "xpu", [13] = "mps", [15] = "hpu",
};

static void device_name(const struct ml_chrome_event *e, char ret[32])
{
    int64_t type = 0, id = -1;
    const char *name = NULL;

    (void)ml_chrome_arg_i64(e, "Device Type", &type);
    (void)ml_chrome_arg_i64(e, "Device Id", &id);
    if (type >= 0 && type < (int64_t)ML_ARRAY_SIZE(device_types))
        name = device_types[type];
    if (type == 0)
        snprintf(ret, 32, "cpu");
    else if (name)
        snprintf(ret, 32, "%s:%d", name, (int)(id < 0 ? 0 : id & 0xffff));
    else
        snprintf(ret, 32, "device%d:%d", (int)(type & 0xffff), (int)(id < 0 ? 0 : id & 0xffff));
}

static void put_counter(struct ml_chrome_entities *w, const struct ml_chrome_event *e,
                        struct ml_event event, const struct ml_chrome_thread *t, const char *key,
                        const char *device)
{
    char name[64];
    int64_t value;
    int len;

    if (!ml_chrome_arg_i64(e, key, &value))
        return;
    len = snprintf(name, sizeof(name), "%s: %s", key, device);
    event.kind = ML_COUNTER;
    event.args[0] =
        ml_chrome_object(w, t->process, MEMLEDGER_COUNTER,
                         ml_chrome_domain(w, t->process, (struct ml_slice){"Pool Memory", 11}),
                         (struct ml_slice){name, (size_t)len}, 0, (struct ml_slice){"*", 1});
    event.args[1] = ml_zigzag(value);
    ml_import_event(w->sink, &event);
}

/* Blocks allocated before the profile began have a free in it but no allocation. */
static void put_block(struct ml_chrome_entities *w, const struct ml_chrome_event *e,
                      struct ml_event event, int64_t bytes)
{
    int64_t address = 0;
    bool has_address = ml_chrome_arg_i64(e, "Addr", &address) && address != 0;

    if (!has_address)
        ml_import_unknown(w->sink, ML_UNKNOWN_ADDRESSES | ML_UNKNOWN_FREES);
    if (bytes > 0) {
        event.kind = ML_ALLOC;
        event.size = (uint64_t)bytes;
        event.addr = has_address ? (uint64_t)address : ml_import_address(w->sink);
        ml_import_event(w->sink, &event);
    } else if (bytes < 0 && has_address) {
        event.kind = ML_FREE;
        event.addr = (uint64_t)address;
        ml_import_event(w->sink, &event);
    }
}

/* A failed request may have any size; no sum contains it. */
static bool is_too_large(const struct ml_chrome_event *e, bool refused)
{
    const struct ml_chrome_arg *arg = ml_chrome_arg(e, "Bytes");
    int64_t bytes;

    if (refused || !arg)
        return false;
    if (!ml_chrome_i64(ml_chrome_text(e, arg->value), &bytes))
        return arg->value.token == ML_JSON_NUMBER;
    return bytes > (int64_t)ML_IMPORT_BYTES_MAX || bytes < -(int64_t)ML_IMPORT_BYTES_MAX;
}

int ml_chrome_memory(struct ml_chrome_entities *w, const struct ml_chrome_event *e,
                     uint64_t time_ns)
{
    struct ml_slice name = ml_chrome_field(e, ML_CHROME_NAME);
    bool refused = ml_slice_is(name, "[OutOfMemory]");
    struct ml_event event = {.time_ns = time_ns};
    struct ml_chrome_thread t;
    char device[32];
    int64_t bytes;

    if (!refused && !ml_slice_is(name, "[memory]"))
        return 0;
    if (is_too_large(e, refused))
        return -ERANGE;
    if (!ml_chrome_arg_i64(e, "Bytes", &bytes))
        return 0;
    device_name(e, device);
    t = ml_chrome_thread_of(w, e);
    event.thread = t.thread;
    event.space = ml_import_space(w->sink, t.process, device, MEMLEDGER_BLOCK, ML_TORCH_SPACE_NAME);
    ml_import_unknown(w->sink, ML_UNKNOWN_START);
    if (refused) {
        event.kind = ML_OOM;
        event.size = bytes > 0 ? (uint64_t)bytes : (uint64_t)-bytes;
        ml_import_event(w->sink, &event);
    } else {
        put_block(w, e, event, bytes);
        put_counter(w, e, event, &t, "Total Allocated", device);
        put_counter(w, e, event, &t, "Total Reserved", device);
    }
    return 1;
}
