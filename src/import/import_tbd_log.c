/* import_tbd_log.c: the log of tbd-tools' MXNet memory profiler.
 *
 *     [mem] Allocate 1048608 bytes GPU memory (in_arg:fc1_weight).
 *     [mem] 15000 MB GPU global memory free, total 16160 MB.
 *
 * It is a program's standard error, so there may be other text between these lines, and before
 * them after an unfinished line. A "Release" names no block and becomes a marker. In memledger's
 * own export of a program without a GPU it is CPU memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "import_formats.h"
#include "import_limits.h"
#include "import_tagged.h"
#include "memledger/memledger.h"

#define MIB (UINT64_C(1) << 20)
/* The log does not say which GPU. */
enum device { GPU, CPU, DEVICES };

static const struct {
    const char *word, *name;
    uint32_t level;
    const char *space;
} devices[DEVICES] = {
    [GPU] = {"GPU", "gpu", MEMLEDGER_DRIVER, "cudaMalloc"},
    [CPU] = {"CPU", "cpu", MEMLEDGER_BLOCK, "mxnet"},
};

struct tbd {
    struct ml_import_source *source;
    struct ml_import_sink *sink;
    struct ml_import_tagged tagged;
    uint64_t allocations;
};

/* Skips `text` at the beginning. */
static bool skip(struct ml_slice *p, const char *text)
{
    size_t len = strlen(text);

    if (!ml_slice_begins(*p, text))
        return false;
    p->text += len;
    p->len -= len;
    return true;
}

/* Moves to `text` in the line; false when the line does not contain it. */
static bool seek(struct ml_slice *p, const char *text)
{
    const char *at = p->len ? memmem(p->text, p->len, text, strlen(text)) : NULL;

    if (!at)
        return false;
    p->len -= (size_t)(at - p->text);
    p->text = at;
    return true;
}

/* "GPU" or "CPU". */
static bool take_device(struct ml_slice *p, enum device *ret)
{
    for (enum device device = GPU; device < DEVICES; device++) {
        if (skip(p, devices[device].word)) {
            *ret = device;
            return true;
        }
    }
    return false;
}

/* "1048608 bytes GPU memory (in_arg:fc1_weight)." after "Allocate ". */
static bool parse_allocation(struct ml_slice p, struct ml_tagged_block *ret,
                             enum device *ret_device, bool *ret_rounded)
{
    uint64_t amount;
    bool in_bytes;

    if (!ml_slice_take_u64(&p, &amount))
        return false;
    in_bytes = skip(&p, " bytes ");
    if (!in_bytes && !skip(&p, " MB "))
        return false;
    if (!take_device(&p, ret_device) || !skip(&p, " memory ("))
        return false;
    if (amount > ML_IMPORT_BYTES_MAX / (in_bytes ? 1 : MIB))
        return false;
    p = ml_slice_trim(p);
    if (p.len < 2 || memcmp(p.text + p.len - 2, ").", 2) != 0)
        return false;
    ret->bytes = in_bytes ? amount : amount * MIB;
    ret->tag = (struct ml_slice){p.text, p.len - 2};
    *ret_rounded = !in_bytes;
    return true;
}

static int read_allocation(struct tbd *t, struct ml_slice p, struct ml_error *err)
{
    struct ml_tagged_block block = {0};
    enum device device = GPU;
    bool rounded = false;

    if (!parse_allocation(p, &block, &device, &rounded)) {
        if (t->source->line_cut)
            return 0; /* the program was killed while it wrote the line */
        return ml_import_bad(t->source, err, "expected a size and a tag after 'Allocate'");
    }
    if (rounded)
        ml_import_unknown(t->sink, ML_UNKNOWN_SIZES);
    block.space = ml_import_space(t->sink, t->tagged.process, devices[device].name,
                                  devices[device].level, devices[device].space);
    ml_import_tagged_put(&t->tagged, &block);
    t->allocations++;
    return 0;
}

static void put_sample(struct tbd *t, enum device device, uint64_t bits, uint64_t free_bytes,
                       uint64_t total_bytes)
{
    uint32_t name = ml_dict_cstr(&t->sink->dict, devices[device].name);
    struct ml_event event = {
        .kind = ML_SAMPLE,
        .time_ns = t->tagged.time_ns,
        .thread = t->tagged.thread,
        .args = {name, bits, 0, free_bytes, total_bytes},
    };

    ml_import_event(t->sink, &event);
}

/* "15000 MB GPU global memory free, total 16160 MB." */
static bool read_free_memory(struct tbd *t, struct ml_slice p)
{
    enum device device = GPU;
    uint64_t free_mib, total_mib;

    if (!ml_slice_take_u64(&p, &free_mib) || !skip(&p, " MB ") || !take_device(&p, &device) ||
        !skip(&p, " global memory free, total ") || !ml_slice_take_u64(&p, &total_mib) ||
        !ml_slice_begins(p, " MB") || free_mib > ML_IMPORT_BYTES_MAX / MIB ||
        total_mib > ML_IMPORT_BYTES_MAX / MIB)
        return false;
    put_sample(t, device, ML_SAMPLE_FREE | ML_SAMPLE_TOTAL, free_mib * MIB, total_mib * MIB);
    return true;
}

/* "123456 bytes GPU memory available (0 MBs)" after "[LOG] ". */
static void read_available(struct tbd *t, struct ml_slice p)
{
    uint64_t bytes;

    if (ml_slice_take_u64(&p, &bytes) && bytes <= ML_IMPORT_BYTES_MAX &&
        ml_slice_begins(p, " bytes GPU memory available"))
        put_sample(t, GPU, ML_SAMPLE_FREE, bytes, 0);
}

static int read_line(struct tbd *t, struct ml_slice line, struct ml_error *err)
{
    struct ml_slice p = line;

    if (seek(&p, "[LOG] ")) {
        struct ml_slice log = p;

        (void)skip(&log, "[LOG] ");
        read_available(t, log); /* no line break: more may follow */
    }
    p = line;
    if (seek(&p, "[mem] ")) {
        (void)skip(&p, "[mem] ");
        if (skip(&p, "Allocate "))
            return read_allocation(t, p, err);
        if (!read_free_memory(t, p))
            ml_import_tagged_note(&t->tagged, ml_slice_trim(p));
        return 0;
    }
    p = line;
    if (seek(&p, "Allocate ") && memmem(p.text, p.len, " MB GPU memory (", 16)) {
        (void)skip(&p, "Allocate ");
        return read_allocation(t, p, err);
    }
    if (ml_slice_begins(line, "Free ") && memmem(line.text, line.len, " MB GPU memory (", 16))
        ml_import_tagged_note(&t->tagged, ml_slice_trim(line));
    else
        (void)read_free_memory(t, line);
    return 0;
}

static int run(struct ml_import_source *source, struct ml_import_sink *sink, struct ml_error *err)
{
    struct tbd t = {.source = source, .sink = sink};
    const char *text;
    size_t len;
    int r;

    ml_import_tagged_init(&t.tagged, sink);
    while ((r = ml_import_line(source, &text, &len, err)) > 0) {
        r = read_line(&t, (struct ml_slice){text, len}, err);
        if (r < 0)
            return r;
    }
    if (r == 0 && t.allocations == 0)
        return ml_error_set(err, -EINVAL, "%s: has no line '[mem] Allocate ...'", source->name);
    return r;
}

static int recognise(const uint8_t *head, size_t len)
{
    bool has_memory =
        memmem(head, len, " GPU memory (", 13) || memmem(head, len, " CPU memory (", 13);

    return memmem(head, len, "[mem] Allocate ", 15) && has_memory ? 95 : 0;
}

const struct ml_import_format ml_import_tbd_log = {
    .name = "tbd-log",
    .help = "the log of tbd-tools' MXNet memory profiler: sizes and tags",
    .recognise = recognise,
    .run = run,
};
