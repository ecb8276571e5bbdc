/* import_mxnet_pool_csv.c: the CSV that MXNet's profiler writes at a dump.
 *
 *     "Attribute Name","Requested Size","Device","Actual Size","Reuse?"
 *     "tensordot:in_arg:A","8388608","0","8388608","0"
 *
 * Rows are the blocks live at that moment, sorted by name; the time of each allocation is
 * unknown. Blocks that came from the pool instead of the driver are in a scope "reused".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "cuda_spaces.h"
#include "import_formats.h"
#include "import_limits.h"
#include "import_tagged.h"
#include "memledger/memledger.h"

static const char header[] = "Attribute Name";

enum column { NAME, REQUESTED, DEVICE, ACTUAL, REUSE, COLUMNS };

struct pool {
    struct ml_import_source *source;
    struct ml_import_sink *sink;
    struct ml_import_tagged tagged;
    uint32_t reused; /* scope */
    struct ml_buf name;
    bool has_header;
};

/* Upstream's own test has unquoted rows. Names in them may contain commas, so the last four
 * fields are found from the end. */
static bool split(struct ml_slice line, struct ml_slice fields[COLUMNS])
{
    struct ml_slice rest = line;

    for (int i = 0; i < COLUMNS; i++)
        if (!ml_slice_next_quoted(&rest, ',', &fields[i]))
            return false;
    if (!rest.text)
        return true;
    if (line.len && line.text[0] == '"')
        return false;
    for (int i = COLUMNS - 1; i > NAME; i--) {
        const char *comma = memrchr(line.text, ',', line.len);

        if (!comma)
            return false;
        fields[i] = (struct ml_slice){comma + 1, (size_t)(line.text + line.len - comma - 1)};
        line.len = (size_t)(comma - line.text);
    }
    fields[NAME] = line;
    return true;
}

/* In a quoted name, "" is an escaped quote. */
static int unquote(struct pool *p, struct ml_slice *name)
{
    ml_buf_clear(&p->name);
    if (name->len == 0 || !memchr(name->text, '"', name->len))
        return 0;
    for (size_t i = 0; i < name->len; i++) {
        if (ml_buf_append(&p->name, &name->text[i], 1) < 0)
            return -ENOMEM;
        i += name->text[i] == '"' && i + 1 < name->len && name->text[i + 1] == '"';
    }
    *name = (struct ml_slice){(const char *)p->name.data, p->name.len};
    return 0;
}

static uint32_t space_of(struct pool *p, uint64_t device)
{
    char name[32];

    snprintf(name, sizeof(name), ML_CUDA_DEVICE_PREFIX "%u", (unsigned)device);
    return ml_import_space(p->sink, p->tagged.process, name, MEMLEDGER_BLOCK, "mxnet");
}

static int read_row(struct pool *p, struct ml_slice line, struct ml_error *err)
{
    struct ml_slice fields[COLUMNS];
    struct ml_tagged_block block = {.has_requested = true};
    uint64_t device, reuse;

    if (!split(line, fields) || !ml_slice_u64(fields[REQUESTED], &block.requested) ||
        !ml_slice_u64(fields[ACTUAL], &block.bytes) || !ml_slice_u64(fields[DEVICE], &device) ||
        !ml_slice_u64(fields[REUSE], &reuse) || reuse > 1 || device > 1023) {
        if (p->source->line_cut)
            return 0;
        return ml_import_bad(
            p->source, err,
            "expected a row like \"name\",\"requested\",\"device\",\"actual\",\"0\"");
    }
    if (block.bytes > ML_IMPORT_BYTES_MAX || block.requested > ML_IMPORT_BYTES_MAX)
        return ml_import_bad(p->source, err, ML_IMPORT_TOO_LARGE);
    if (unquote(p, &fields[NAME]) < 0)
        return ml_error_set(err, -ENOMEM, "not enough memory");
    block.tag = fields[NAME];
    block.scope = reuse ? p->reused : 0;
    block.space = space_of(p, device);
    ml_import_tagged_put(&p->tagged, &block);
    return 0;
}

static int read_rows(struct pool *p, struct ml_error *err)
{
    struct ml_slice line, first;
    int r;

    while ((r = ml_import_line(p->source, &line.text, &line.len, err)) > 0) {
        struct ml_slice rest = line;

        if (ml_slice_trim(line).len == 0)
            continue;
        if (ml_slice_next_quoted(&rest, ',', &first) && ml_slice_is(first, header)) {
            p->has_header = true;
            continue;
        }
        r = read_row(p, line, err);
        if (r < 0)
            break;
    }
    return r;
}

static int run(struct ml_import_source *source, struct ml_import_sink *sink, struct ml_error *err)
{
    struct pool p = {.source = source, .sink = sink};
    int r;

    ml_import_tagged_init(&p.tagged, sink);
    ml_import_unknown(sink, ML_UNKNOWN_ORDER);
    p.reused = ml_dict_scope(&sink->dict,
                             &(struct ml_dict_scope){.kind = MEMLEDGER_SCOPE_USER,
                                                     .name = ml_dict_cstr(&sink->dict, "reused")});
    r = read_rows(&p, err);
    ml_buf_release(&p.name);
    /* A header alone means that no block was live. */
    if (r == 0 && !p.has_header && sink->events == 0)
        return ml_error_set(err, -EINVAL, "%s: has neither the header \"%s\",... nor a row",
                            source->name, header);
    return r;
}

static int recognise(const uint8_t *head, size_t len)
{
    struct ml_slice start = {(const char *)head, len};

    return ml_slice_begins(start, "\"Attribute Name\",\"Requested Size\"") ||
                   ml_slice_begins(start, "Attribute Name,Requested Size")
               ? 100
               : 0;
}

const struct ml_import_format ml_import_mxnet_pool_csv = {
    .name = "mxnet-pool-csv",
    .help = "gpu_memory_profile-pid_N.csv of MXNet's profiler: blocks live at a dump",
    .recognise = recognise,
    .run = run,
};
