/* export_pprof.c: a heap profile for pprof: gzipped protocol buffers, following its
 * profile.proto. Each site has four values: objects and bytes allocated in the run, and those
 * in use at an instant. The site is the stack if one was recorded, else the module and its
 * parents.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "event_names.h"
#include "exporter.h"
#include "gzip_output.h"
#include "printable.h"
#include "proto_message.h"
#include "site_frames.h"

enum profile_field {
    SAMPLE_TYPE = 1,
    SAMPLE = 2,
    LOCATION = 4,
    FUNCTION = 5,
    STRING = 6,
    TIME_NANOS = 9,
    DURATION_NANOS = 10,
    COMMENT = 13,
    DEFAULT_SAMPLE_TYPE = 14,
};
enum { TYPE_TYPE = 1, TYPE_UNIT = 2 };
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES = 2, SAMPLE_LABEL = 3 };
enum { LABEL_KEY = 1, LABEL_TEXT = 2 };
enum { LOCATION_ID = 1, LOCATION_LINE = 4 };
enum { LINE_FUNCTION = 1, LINE_LINE = 2 };
enum { FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_FILE = 4 };

struct work {
    struct ml_sites sites;
    struct ml_site_frames frames;
    struct ml_intern functions; /* name and file of each */
    struct ml_gzip gzip;
    struct ml_buf message, part, list;
    int error; /* the first failure */
};

/* ---- Parts of a message ------------------------------------------------- */

static void keep(struct work *w, int r)
{
    if (r < 0 && w->error == 0)
        w->error = r;
}

/* The number of a text in the profile's table, which is also the table of the frames. */
static uint64_t string(struct work *w, const char *text)
{
    int64_t number = ml_intern_put(&w->frames.texts, text, strlen(text), NULL);

    keep(w, number < 0 ? (int)number : 0);
    return number < 0 ? 0 : (uint64_t)number;
}

/* Appends the finished message as a field of the profile. */
static void put_message(struct work *w, enum profile_field field)
{
    struct ml_buf head = {0};

    keep(w, ml_proto_varint(&head, (uint64_t)field << 3 | ML_PROTO_BYTES));
    keep(w, ml_proto_varint(&head, w->message.len));
    if (w->error == 0)
        keep(w, ml_gzip_put(&w->gzip, head.data, head.len));
    if (w->error == 0)
        keep(w, ml_gzip_put(&w->gzip, w->message.data, w->message.len));
    ml_buf_release(&head);
    ml_buf_clear(&w->message);
}

static void put_number(struct work *w, enum profile_field field, uint64_t value)
{
    struct ml_buf text = {0};

    keep(w, ml_proto_u64(&text, field, value));
    if (w->error == 0)
        keep(w, ml_gzip_put(&w->gzip, text.data, text.len));
    ml_buf_release(&text);
}

/* ---- Samples ------------------------------------------------------------ */

static void put_type(struct work *w, const char *type, const char *unit)
{
    keep(w, ml_proto_u64(&w->message, TYPE_TYPE, string(w, type)));
    keep(w, ml_proto_u64(&w->message, TYPE_UNIT, string(w, unit)));
    put_message(w, SAMPLE_TYPE);
}

static void add_label(struct work *w, const char *key, const char *text)
{
    ml_buf_clear(&w->part);
    keep(w, ml_proto_u64(&w->part, LABEL_KEY, string(w, key)));
    keep(w, ml_proto_u64(&w->part, LABEL_TEXT, string(w, text)));
    keep(w, ml_proto_bytes(&w->message, SAMPLE_LABEL, w->part.data, w->part.len));
}

static void add_place(struct work *w, const struct ml_site *site)
{
    keep(w, site->stack ? ml_site_stack(&w->frames, site->stack)
                        : ml_site_module(&w->frames, &w->sites.modules, site->module));
    ml_buf_clear(&w->list);
    for (size_t i = 0; i < w->frames.path.len; i++)
        keep(w, ml_proto_varint(&w->list, w->frames.path.items[i] + UINT64_C(1)));
    keep(w, ml_proto_bytes(&w->message, SAMPLE_LOCATIONS, w->list.data, w->list.len));
}

static void put_sample(struct work *w, const struct ml_site *site)
{
    const uint64_t values[] = {site->total_blocks, site->total_bytes, site->live_blocks,
                               site->live_bytes};

    add_place(w, site);
    ml_buf_clear(&w->list);
    for (size_t i = 0; i < ML_ARRAY_SIZE(values); i++)
        keep(w, ml_proto_varint(&w->list, values[i]));
    keep(w, ml_proto_bytes(&w->message, SAMPLE_VALUES, w->list.data, w->list.len));
    add_label(w, "category", ml_category_name(site->category));
    add_label(w, "device", ml_intern_get(&w->sites.devices, site->device, NULL));
    if (site->module != ML_NO_MODULE)
        add_label(w, "module", w->sites.modules.list.items[site->module].path);
    put_message(w, SAMPLE);
}

/* ---- Tables that samples refer to --------------------------------------------- */

static uint64_t function_of(struct work *w, const struct ml_site_frame *frame)
{
    uint32_t key[] = {frame->name, frame->file};
    int64_t number = ml_intern_put(&w->functions, key, sizeof(key), NULL);

    keep(w, number < 0 ? (int)number : 0);
    return (uint64_t)(number + 1);
}

static void put_locations(struct work *w)
{
    for (size_t i = 0; w->error == 0 && i < w->frames.list.len; i++) {
        const struct ml_site_frame *frame = &w->frames.list.items[i];

        ml_buf_clear(&w->part);
        keep(w, ml_proto_u64(&w->part, LINE_FUNCTION, function_of(w, frame)));
        keep(w, ml_proto_u64(&w->part, LINE_LINE, frame->line));
        keep(w, ml_proto_u64(&w->message, LOCATION_ID, i + 1));
        keep(w, ml_proto_bytes(&w->message, LOCATION_LINE, w->part.data, w->part.len));
        put_message(w, LOCATION);
    }
}

static void put_functions(struct work *w)
{
    for (uint32_t i = 0; w->error == 0 && i < ml_intern_len(&w->functions); i++) {
        uint32_t key[2];

        memcpy(key, ml_intern_get(&w->functions, i, NULL), sizeof(key));
        keep(w, ml_proto_u64(&w->message, FUNCTION_ID, i + UINT64_C(1)));
        keep(w, ml_proto_u64(&w->message, FUNCTION_NAME, key[0]));
        keep(w, ml_proto_u64(&w->message, FUNCTION_FILE, key[1]));
        put_message(w, FUNCTION);
    }
}

/* Written last, when all strings are known. Readers may require UTF-8. */
static void put_strings(struct work *w)
{
    for (uint32_t i = 0; w->error == 0 && i < ml_intern_len(&w->frames.texts); i++) {
        size_t len;
        const char *text = ml_intern_get(&w->frames.texts, i, &len);

        keep(w, ml_utf8_clean(text, len, &w->message));
        put_message(w, STRING);
    }
}

/* ---- All ---------------------------------------------------------------- */

static int write_file(struct work *w, const struct ml_trace *trace)
{
    put_type(w, "alloc_objects", "count");
    put_type(w, "alloc_space", "bytes");
    put_type(w, "inuse_objects", "count");
    put_type(w, "inuse_space", "bytes");
    for (size_t i = 0; w->error == 0 && i < w->sites.list.len; i++)
        put_sample(w, &w->sites.list.items[i]);
    put_number(w, TIME_NANOS, ml_trace_info(trace)->start_wall_ns + w->sites.at.instant.time_ns);
    put_number(w, DURATION_NANOS, ml_trace_info(trace)->end_ns);
    if (w->sites.at.command)
        put_number(w, COMMENT, string(w, w->sites.at.command));
    put_number(w, DEFAULT_SAMPLE_TYPE, string(w, "inuse_space"));
    put_locations(w);
    put_functions(w);
    put_strings(w);
    return w->error ? w->error : ml_gzip_finish(&w->gzip);
}

static void release(struct work *w)
{
    ml_sites_release(&w->sites);
    ml_site_frames_release(&w->frames);
    ml_intern_release(&w->functions);
    ml_gzip_release(&w->gzip);
    ml_buf_release(&w->message);
    ml_buf_release(&w->part);
    ml_buf_release(&w->list);
}

static int export_trace(const struct ml_trace *trace, const struct ml_export_opts *opts,
                        struct ml_output *out, struct ml_error *err)
{
    struct ml_sites_opts how = {.snapshot = {.at = opts->at, .device = opts->device},
                                .totals = true};
    struct work w = {0};
    int r = ml_gzip_init(&w.gzip, out);

    if (r == 0)
        r = ml_site_frames_init(&w.frames, trace);
    if (r == 0)
        r = ml_sites(trace, &how, &w.sites, err);
    if (r == 0)
        r = write_file(&w, trace);
    release(&w);
    return r;
}

const struct ml_exporter ml_exporter_pprof = {
    .name = "pprof",
    .suffix = ".pprof.gz",
    .help = "heap profile: live at --at, and all allocated",
    .run = export_trace,
};
