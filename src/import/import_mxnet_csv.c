/* import_mxnet_csv.c: the CSV of MXNet's GPU memory profiler as it was proposed.
 *
 *     in_arg:fc1_weight,1.00003
 *
 * A tag, which may contain commas, and mebibytes with six digits. Rows are allocations from the
 * driver; the file has no frees.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "import_formats.h"
#include "import_tagged.h"
#include "memledger/memledger.h"

/* The size follows the last comma. */
static bool parse_row(struct ml_slice line, struct ml_slice *ret_tag, uint64_t *ret_bytes)
{
    const char *comma = line.len ? memrchr(line.text, ',', line.len) : NULL;
    struct ml_slice size;
    double mib;

    if (!comma)
        return false;
    size = (struct ml_slice){comma + 1, (size_t)(line.text + line.len - comma - 1)};
    if (!ml_slice_double(size, &mib) || !ml_mib_to_bytes(mib, ret_bytes))
        return false;
    *ret_tag = (struct ml_slice){line.text, (size_t)(comma - line.text)};
    return true;
}

static int run(struct ml_import_source *source, struct ml_import_sink *sink, struct ml_error *err)
{
    struct ml_import_tagged tagged;
    struct ml_tagged_block block = {0};
    struct ml_slice line;
    int r;

    ml_import_tagged_init(&tagged, sink);
    ml_import_unknown(sink, ML_UNKNOWN_SIZES);
    block.space = ml_import_space(sink, tagged.process, "gpu", MEMLEDGER_DRIVER, "cudaMalloc");
    while ((r = ml_import_line(source, &line.text, &line.len, err)) > 0) {
        if (ml_slice_trim(line).len == 0)
            continue;
        if (source->line_cut)
            break; /* a number that was cut off would pass for another */
        if (!parse_row(line, &block.tag, &block.bytes))
            return ml_import_bad(source, err,
                                 "expected a tag and a number of MiB, like in_arg:fc1,1.5");
        ml_import_tagged_put(&tagged, &block);
    }
    if (r >= 0 && sink->events == 0)
        return ml_error_set(err, -EINVAL, "%s: has no complete row like in_arg:fc1,1.5",
                            source->name);
    return r < 0 ? r : 0;
}

/* All rows must have this form; MXNet's tags distinguish the file from other tables. */
static int recognise(const uint8_t *head, size_t len)
{
    struct ml_slice rest = {(const char *)head, len}, line, tag;
    unsigned rows = 0, known = 0;
    uint64_t bytes;

    while (rows < 100 && ml_slice_next(&rest, '\n', &line) && rest.text) {
        if (line.len && line.text[line.len - 1] == '\r')
            line.len--;
        if (line.len == 0)
            continue;
        if (!parse_row(line, &tag, &bytes) || tag.len == 0)
            return 0;
        rows++;
        known += ml_tag_is_known(tag);
    }
    if (rows == 0)
        return 0;
    return known ? 80 : 15;
}

const struct ml_import_format ml_import_mxnet_csv = {
    .name = "mxnet-csv",
    .help = "MXNet's GPU memory profiler (pull request 14973): tag,MiB",
    .recognise = recognise,
    .run = run,
};
