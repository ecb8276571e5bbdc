/* import_mxnet_log.c: the log of MXNet's GPU memory profiler: allocations with an unknown tag,
 * each with its stack.
 *
 *     [mxnet:profiler:gpu_memory_profiler:W] Allocating 4 with unknown memory tag unknown:_zeros
 *     Stack trace returned 10 entries:
 *     [bt] (0) /usr/lib/libmxnet.so(mxnet::Storage::Alloc()+0x1f) [0x7f0123456789]
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "import_formats.h"
#include "import_tagged.h"
#include "memledger/memledger.h"

#define START "[mxnet:profiler:gpu_memory_profiler:W] Allocating "
#define MIDDLE " with unknown memory tag "
#define FRAMES_MAX 256

struct mxlog {
    struct ml_import_source *source;
    struct ml_import_sink *sink;
    struct ml_import_tagged tagged;
    struct ml_tagged_block block; /* pending until its stack is read */
    struct ml_buf tag;            /* the block's */
    bool has_block;
    int64_t frames[FRAMES_MAX]; /* innermost first */
    unsigned frame_count;
};

/* ---- Frames ------------------------------------------------------------- */

static struct ml_slice part(const char *from, const char *to)
{
    return (struct ml_slice){from, (size_t)(to - from)};
}

static const char *last_of(struct ml_slice p, char c)
{
    return p.text && p.len ? memrchr(p.text, c, p.len) : NULL;
}

static bool parse_hex(struct ml_slice p, uint64_t *ret)
{
    uint64_t value = 0;

    if (!ml_slice_begins(p, "0x") || p.len < 3 || p.len > 18)
        return false;
    for (size_t i = 2; i < p.len; i++) {
        char c = p.text[i];
        int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;

        if (digit < 0)
            return false;
        value = value << 4 | (uint64_t)digit;
    }
    *ret = value;
    return true;
}

/* "path(function+0x1f) [0x7f01]": the function, empty if there is none. */
static struct ml_slice function_of(struct ml_slice p)
{
    const char *open = p.len ? memchr(p.text, '(', p.len) : NULL;
    const char *close = last_of(p, ')');
    const char *plus;

    if (!open || !close || close < open)
        return (struct ml_slice){p.text, 0};
    plus = last_of(part(open + 1, close), '+');
    return part(open + 1, plus ? plus : close);
}

/* "[bt] (0) ...". The address identifies the frame. */
static bool read_frame(struct mxlog *m, struct ml_slice p)
{
    const char *start = p.len ? memchr(p.text, ')', p.len) : NULL;
    const char *open = last_of(p, '['), *close = last_of(p, ']');
    struct ml_dict_frame frame = {.kind = ML_FRAME_NATIVE};
    struct ml_slice function;
    uint32_t known = ml_dict_frames(&m->sink->dict);
    int64_t number;

    if (!start || !open || !close || open < start || close < open ||
        !parse_hex(part(open + 1, close), &frame.what))
        return false;
    number = ml_dict_frame(&m->sink->dict, &frame);
    function = function_of(part(start + 1, open));
    if (number >= 0 && (uint32_t)number == known && function.len)
        ml_dict_symbol(&m->sink->dict, (uint32_t)number,
                       ml_dict_string(&m->sink->dict, function.text, function.len));
    if (m->frame_count < FRAMES_MAX)
        m->frames[m->frame_count++] = number;
    return true;
}

static uint32_t stack_of(struct mxlog *m)
{
    uint32_t stack = 0;

    while (m->frame_count > 0)
        stack = ml_dict_stack(&m->sink->dict, stack, m->frames[--m->frame_count]);
    return stack;
}

/* ---- Allocations -------------------------------------------------------- */

static void put_block(struct mxlog *m)
{
    if (!m->has_block)
        return;
    m->block.stack = stack_of(m);
    m->block.tag = (struct ml_slice){(const char *)m->tag.data, m->tag.len};
    ml_import_tagged_put(&m->tagged, &m->block);
    m->has_block = false;
}

static int begin_block(struct mxlog *m, struct ml_slice p, struct ml_error *err)
{
    const char *middle = memmem(p.text, p.len, MIDDLE, strlen(MIDDLE));
    const char *tag = middle ? middle + strlen(MIDDLE) : NULL;
    double mib;

    put_block(m);
    m->frame_count = 0;
    if (!middle || !ml_slice_double(part(p.text, middle), &mib) ||
        !ml_mib_to_bytes(mib, &m->block.bytes)) {
        if (m->source->line_cut)
            return 0;
        return ml_import_bad(m->source, err, "expected a size and a tag after 'Allocating'");
    }
    ml_buf_clear(&m->tag);
    if (ml_buf_append(&m->tag, tag, (size_t)(p.text + p.len - tag)) < 0)
        return ml_error_set(err, -ENOMEM, "not enough memory");
    m->has_block = true;
    return 0;
}

static int read_line(struct mxlog *m, struct ml_slice line, struct ml_error *err)
{
    const char *at = line.len ? memmem(line.text, line.len, START, strlen(START)) : NULL;
    struct ml_slice p = ml_slice_trim(line);

    if (at) {
        at += strlen(START);
        return begin_block(m, part(at, line.text + line.len), err);
    }
    if (m->has_block && ml_slice_begins(p, "[bt]"))
        (void)read_frame(m, p);
    return 0;
}

static int run(struct ml_import_source *source, struct ml_import_sink *sink, struct ml_error *err)
{
    struct mxlog m = {.source = source, .sink = sink};
    struct ml_slice line;
    bool has_text = false;
    int r;

    ml_import_tagged_init(&m.tagged, sink);
    ml_import_unknown(sink, ML_UNKNOWN_SIZES | ML_UNKNOWN_OTHERS);
    m.block.space = ml_import_space(sink, m.tagged.process, "gpu", MEMLEDGER_DRIVER, "cudaMalloc");
    while ((r = ml_import_line(source, &line.text, &line.len, err)) > 0) {
        has_text |= ml_slice_trim(line).len > 0;
        r = read_line(&m, line, err);
        if (r < 0)
            break;
    }
    if (r == 0)
        put_block(&m);
    ml_buf_release(&m.tag);
    /* The log of a run in which every tag was known is empty. */
    if (r == 0 && has_text && sink->events == 0)
        return ml_error_set(err, -EINVAL, "%s: has no line '" START "...'", source->name);
    return r;
}

static int recognise(const uint8_t *head, size_t len)
{
    return memmem(head, len, START, strlen(START)) ? 95 : 0;
}

const struct ml_import_format ml_import_mxnet_log = {
    .name = "mxnet-log",
    .help = "the log beside mxnet-csv: allocations without a known tag, with stacks",
    .recognise = recognise,
    .run = run,
};
