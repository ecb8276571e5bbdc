/* import_smi.c: logs of `nvidia-smi --query-gpu=... --format=csv`, as samples.
 *
 * The first line names the columns, which may come in any order, with or without units; others
 * are skipped. A log without that line has one column, memory.used, unless --columns names
 * them. A signal usually ends nvidia-smi, so the last line may be cut off: it counts only if it
 * is complete.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cuda_spaces.h"
#include "import_formats.h"
#include "import_limits.h"
#include "slice.h"
#include "smi_columns.h"

#define MIB (UINT64_C(1) << 20)
#define DEVICES_MAX 256

struct smi {
    struct ml_import_source *source;
    struct ml_import_sink *sink;
    struct ml_smi_columns columns;
    char header[1024]; /* the first line, which some versions repeat */
    size_t header_len;
    bool has_units; /* in the rows so far */
    bool has_first;
    uint64_t first_ns; /* the time of the first row */
    uint64_t rows, last_ns;
    uint32_t thread;
    uint32_t devices[DEVICES_MAX]; /* strings; the first row of each round */
    unsigned device_count;
};

static bool is_header_again(const struct smi *s, struct ml_slice line)
{
    return s->header_len && line.len == s->header_len &&
           memcmp(line.text, s->header, line.len) == 0;
}

/* ---- One row ------------------------------------------------------------ */

struct row {
    struct ml_event event;
    struct ml_slice device; /* identifies the GPU; NULL: nothing does */
    bool device_is_index;
    struct ml_slice name;
    uint64_t time_ns;
    bool has_time;
    bool no_unit; /* at least one value has no unit */
};

/* "[N/A]", "[Not Supported]", "[Unknown Error]", "N/A". */
static bool is_not_known(struct ml_slice p)
{
    return ml_slice_begins(p, "[") || ml_slice_is(p, "N/A");
}

/* "622 MiB", or "622" with nounits. */
static bool get_bytes(struct ml_slice p, uint64_t *ret, bool *ret_no_unit)
{
    uint64_t value;

    if (!ml_slice_take_u64(&p, &value) || value > ML_IMPORT_BYTES_MAX / MIB)
        return false;
    *ret_no_unit |= p.len == 0;
    *ret = value * MIB;
    return p.len == 0 || ml_slice_is(p, " MiB");
}

static int take_memory(const struct smi *s, struct ml_slice p, unsigned bit, uint64_t *value,
                       struct row *row, struct ml_error *err)
{
    if (is_not_known(p))
        return 0;
    if (!get_bytes(p, value, &row->no_unit))
        return ml_import_bad(s->source, err, "'%.*s' is not a size in MiB",
                             (int)(p.len < 40 ? p.len : 40), p.text);
    row->event.args[1] |= bit;
    return 0;
}

static int take_field(const struct smi *s, enum ml_smi_column column, struct ml_slice p,
                      struct row *row, struct ml_error *err)
{
    uint64_t *args = row->event.args;

    switch (column) {
    case ML_SMI_USED: return take_memory(s, p, ML_SAMPLE_USED, &args[2], row, err);
    case ML_SMI_FREE: return take_memory(s, p, ML_SAMPLE_FREE, &args[3], row, err);
    case ML_SMI_TOTAL: return take_memory(s, p, ML_SAMPLE_TOTAL, &args[4], row, err);
    case ML_SMI_TIMESTAMP:
        row->has_time = ml_smi_time(p, &row->time_ns);
        if (!row->has_time)
            return ml_import_bad(s->source, err,
                                 "'%.*s' is not a time like 2024/01/31 23:59:59.999",
                                 (int)(p.len < 40 ? p.len : 40), p.text);
        return 0;
    case ML_SMI_NAME: row->name = p; return 0;
    case ML_SMI_INDEX:
        row->device = p;
        row->device_is_index = true;
        return 0;
    case ML_SMI_IDENTITY:
        if (!row->device_is_index)
            row->device = p;
        return 0;
    default: return 0;
    }
}

/* A last line that was cut off: fields are missing, or the end of a number. */
static bool may_be_cut(const struct smi *s, const struct row *row, unsigned fields)
{
    if (!s->source->line_cut)
        return false;
    return fields < s->columns.count || row->no_unit;
}

/* @return 1; 0 to skip the line; negative errno */
static int parse_row(const struct smi *s, struct ml_slice line, struct row *row,
                     struct ml_error *err)
{
    struct ml_slice rest = line, field;
    unsigned fields = 0;
    int r = 0;

    *row = (struct row){.event = {.kind = ML_SAMPLE, .thread = s->thread}};
    while (r == 0 && ml_slice_next(&rest, ',', &field)) {
        if (fields == s->columns.count)
            return ml_import_bad(s->source, err, "more fields than the %u columns%s",
                                 s->columns.count,
                                 s->header_len ? "" : "; name them with --columns");
        r = take_field(s, s->columns.kinds[fields++], field, row, err);
    }
    if (may_be_cut(s, row, fields) || (r < 0 && s->source->line_cut))
        return 0;
    if (r == 0 && fields < s->columns.count)
        return ml_import_bad(s->source, err, "%u fields for %u columns", fields, s->columns.count);
    return r < 0 ? r : 1;
}

/* ---- Devices and times -------------------------------------------------- */

static uint32_t device_string(struct smi *s, const struct row *row)
{
    char name[160];

    if (!row->device.text)
        return ml_dict_cstr(&s->sink->dict, "gpu");
    snprintf(name, sizeof(name), "%s%.*s", row->device_is_index ? ML_CUDA_DEVICE_PREFIX : "",
             (int)(row->device.len < 128 ? row->device.len : 128), row->device.text);
    return ml_dict_cstr(&s->sink->dict, name);
}

/* Remembers a device. @return false when it was known before */
static bool is_new_device(struct smi *s, uint32_t string)
{
    for (unsigned i = 0; i < s->device_count; i++)
        if (s->devices[i] == string)
            return false;
    if (s->device_count == DEVICES_MAX)
        return false;
    s->devices[s->device_count++] = string;
    return true;
}

static void name_device(struct smi *s, uint32_t string, const struct row *row)
{
    char key[200], model[128];

    if (!row->name.text || is_not_known(row->name))
        return;
    snprintf(key, sizeof(key), "gpu %s", ml_dict_text(&s->sink->dict, string));
    snprintf(model, sizeof(model), "%.*s", (int)(row->name.len < 120 ? row->name.len : 120),
             row->name.text);
    ml_dict_config(&s->sink->dict, key, model);
}

/* All rows of one round have the same number; a round ends when the first device appears
 * again. */
static void count_round(struct smi *s, uint32_t string)
{
    s->rows += s->device_count > 0 && string == s->devices[0];
}

static uint64_t time_of(struct smi *s, const struct row *row)
{
    uint64_t ns = s->rows - 1;

    if (row->has_time) {
        if (!s->has_first)
            s->first_ns = row->time_ns;
        s->has_first = true;
        ns = row->time_ns > s->first_ns ? row->time_ns - s->first_ns : 0;
    } else if (s->source->opts.interval_ns) {
        if (__builtin_mul_overflow(ns, s->source->opts.interval_ns, &ns))
            ns = UINT64_MAX / 2;
    }
    s->last_ns = ml_max_u64(s->last_ns, ns);
    return s->last_ns;
}

static void put_row(struct smi *s, struct row *row)
{
    uint32_t string = device_string(s, row);

    if (is_new_device(s, string))
        name_device(s, string, row);
    count_round(s, string);
    row->event.args[0] = string;
    row->event.time_ns = time_of(s, row);
    if (row->event.args[1])
        ml_import_event(s->sink, &row->event);
}

/* ---- The file ----------------------------------------------------------- */

static int read_header(struct smi *s, struct ml_slice line, struct ml_error *err)
{
    if (!ml_smi_columns_named(line, &s->columns)) {
        const char *said = s->source->opts.columns;
        struct ml_slice names = {said ? said : "memory.used", strlen(said ? said : "memory.used")};

        if (!ml_smi_columns_named(names, &s->columns))
            return ml_error_set(err, -EINVAL,
                                "--columns %s: names none of memory.used, memory.free and "
                                "memory.total; give the list that --query-gpu was given",
                                said);
        return 0;
    }
    if (line.len >= sizeof(s->header))
        return ml_import_bad(s->source, err, "the line with the columns' names is too long");
    memcpy(s->header, line.text, line.len);
    s->header_len = line.len;
    return 1;
}

static int read_line(struct smi *s, struct ml_slice line, struct ml_error *err)
{
    struct row row;
    int r;

    if (ml_slice_trim(line).len == 0 || is_header_again(s, line))
        return 0;
    if (s->columns.count == 0) {
        r = read_header(s, line, err);
        if (r != 0)
            return r < 0 ? r : 0;
    }
    r = parse_row(s, line, &row, err);
    if (r > 0)
        put_row(s, &row);
    return r < 0 ? r : 0;
}

static int run(struct ml_import_source *source, struct ml_import_sink *sink, struct ml_error *err)
{
    struct smi s = {.source = source, .sink = sink};
    const char *text;
    size_t len;
    int r;

    s.thread = ml_import_thread(sink, ml_import_process(sink, 0, ""), 0, "");
    ml_dict_config(&sink->dict, "sample_only", "yes");
    while ((r = ml_import_line(source, &text, &len, err)) > 0) {
        r = read_line(&s, (struct ml_slice){text, len}, err);
        if (r < 0)
            return r;
    }
    if (r == 0 && sink->events == 0)
        return ml_error_set(err, -EINVAL, "%s: has no samples of memory", source->name);
    if (!s.has_first && !source->opts.interval_ns)
        ml_import_unknown(sink, ML_UNKNOWN_TIMES);
    return r;
}

/* Only sizes, as with noheader. */
static int score_row(struct ml_slice line)
{
    uint64_t bytes;
    bool no_unit = false;

    if (!get_bytes(ml_slice_trim(line), &bytes, &no_unit))
        return 0;
    return no_unit ? 5 : 60;
}

static int recognise(const uint8_t *head, size_t len)
{
    struct ml_slice rest = {(const char *)head, len}, line;
    struct ml_smi_columns columns;

    while (ml_slice_next(&rest, '\n', &line)) {
        if (line.len && line.text[line.len - 1] == '\r')
            line.len--;
        if (line.len == 0)
            continue;
        return ml_smi_columns_named(line, &columns) ? 90 : score_row(line);
    }
    return 0;
}

const struct ml_import_format ml_import_smi = {
    .name = "nvidia-smi",
    .help = "nvidia-smi --query-gpu=... --format=csv, samples of a GPU's memory",
    .recognise = recognise,
    .run = run,
};
