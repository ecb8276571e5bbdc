/* damage_trace.c: a trace decoded, its definitions and events changed, and written again,
 * so that every checksum, length and column of the result is right.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "arena.h"
#include "block_read.h"
#include "io.h"
#include "trace_sample.h"

#define BATCH 64

struct record {
    bool is_event;
    struct ml_def def;
    struct ml_event event;
};

struct records {
    ML_VEC(struct record) list;
    struct ml_arena arena; /* strings */
};

static void release(struct records *r)
{
    ml_vec_release(&r->list);
    ml_arena_release(&r->arena);
}

/* ---- Decoding ----------------------------------------------------------- */

static int add_defs(struct records *r, const uint8_t *at, const uint8_t *end)
{
    struct record record = {0};

    while (at < end && (at = ml_def_get(at, end, &record.def))) {
        struct ml_def *def = &record.def;

        if (def->tag >= ML_DEF_TAGS || def->tag == 0)
            return 0;
        if (def->bytes && !(def->bytes = ml_arena_dup(&r->arena, def->bytes, def->len)))
            return -ENOMEM;
        if (ml_vec_push(&r->list, record))
            return -ENOMEM;
    }
    return 0;
}

static int add_events(struct records *r, const struct ml_block_header *header, const uint8_t *raw)
{
    struct ml_event events[BATCH];
    struct ml_address_model *model = malloc(sizeof(*model));
    struct ml_decoder decoder;
    int n = 0, code = model ? 0 : -ENOMEM;

    if (code || ml_decoder_init(&decoder, header, raw, model)) {
        free(model);
        return code;
    }
    while (code == 0 && (n = ml_decoder_next(&decoder, events, BATCH)) > 0)
        for (int i = 0; i < n && code == 0; i++)
            code = ml_vec_push(&r->list, (struct record){.is_event = true, .event = events[i]});
    free(model);
    return code;
}

static int add_blocks(struct records *r, struct ml_block_reader *reader)
{
    uint64_t offset = ML_FILE_HEADER_BYTES;
    const uint8_t *raw;
    size_t len;
    int code = 0;

    while (!code && ml_block_load(reader, offset) == 0 && ml_block_unpack(reader, &raw) == 0) {
        const struct ml_block_header *h = &reader->header;

        if (h->type == ML_BLOCK_DEFS && ml_block_unpack_records(reader, &raw, &len) == 0)
            code = add_defs(r, raw, raw + len);
        else if (h->type == ML_BLOCK_EVENTS)
            code = add_events(r, h, raw);
        offset = ml_block_end(offset, h->stored_bytes);
    }
    return code;
}

/* As much as can be read. @return 0 or negative errno */
static int decode(const struct ml_buf *bytes, struct records *ret)
{
    int fd = memfd_create("damage", MFD_CLOEXEC);
    struct ml_block_reader reader;
    int code = fd < 0 ? -errno : ml_write_all(fd, bytes->data, bytes->len);

    if (code == 0) {
        ml_block_reader_init(&reader, fd, bytes->len);
        code = add_blocks(ret, &reader);
        ml_block_reader_release(&reader);
    }
    if (fd >= 0)
        close(fd);
    return code;
}

/* ---- Damage ------------------------------------------------------------- */

/* A number as it was, near it, or one at which sums and tables tend to break. */
static uint64_t number(struct fuzz_random *r, uint64_t was)
{
    switch (fuzz_below(r, 8)) {
    case 0: return was + 1;
    case 1: return was - 1;
    case 2: return was * 2;
    case 3: return fuzz_below(r, 4);
    case 4: return fuzz_below(r, 64);
    case 5: return fuzz_next(r) >> fuzz_below(r, 64);
    default: return fuzz_edge_number(r);
    }
}

static void change_event(struct fuzz_random *r, struct ml_event *e, const struct ml_event *other)
{
    size_t arg = fuzz_below(r, ML_EVENT_ARGS);

    switch (fuzz_below(r, 12)) {
    case 0: e->time_ns = number(r, e->time_ns); break;
    case 1: e->addr = number(r, e->addr); break;
    case 2:
    case 3: e->size = number(r, e->size); break;
    case 4: e->thread = (uint32_t)number(r, e->thread); break;
    case 5: e->space = (uint32_t)number(r, e->space); break;
    case 6: e->scope = (uint32_t)number(r, e->scope); break;
    case 7: e->stack = (uint32_t)number(r, e->stack); break;
    case 8: e->kind = (uint8_t)(1 + fuzz_below(r, ML_KIND_COUNT - 1)); break;
    case 9: e->addr = other->addr, e->space = other->space; break;
    default: e->args[arg] = number(r, e->args[arg]); break;
    }
}

/* Words that reports look for. */
static const char *any_text(struct fuzz_random *r)
{
    static const char *const texts[] = {
        "",      "host",    "cpu",       "cuda:0",      "cuda:1",      "malloc",      "torch",
        "mxnet", "context", "backward",  "forward",     "automatic",   "NVIDIA H200", "weight",
        "times", "frees",   "addresses", "memory.used", "a\nb\tc\x1b", "\xff\xfe",    "-1",
    };

    return texts[fuzz_below(r, sizeof(texts) / sizeof(texts[0]))];
}

static void change_def(struct fuzz_random *r, struct ml_def *def)
{
    size_t field = fuzz_below(r, ML_DEF_FIELDS);

    if (def->tag == ML_DEF_STRING && fuzz_below(r, 4)) {
        def->bytes = any_text(r);
        def->len = (uint32_t)strlen(def->bytes);
        return;
    }
    switch (fuzz_below(r, 8)) {
    case 0: def->id = (uint32_t)number(r, def->id); break;
    default: def->fields[field] = number(r, def->fields[field]); break;
    }
}

static void change_record(struct fuzz_random *r, struct records *own)
{
    struct record *record = &own->list.items[fuzz_below(r, own->list.len)];
    const struct record *other = &own->list.items[fuzz_below(r, own->list.len)];

    if (record->is_event)
        change_event(r, &record->event, &other->event);
    else
        change_def(r, &record->def);
}

/* What comes from elsewhere keeps its numbers, which mean something else here. */
static int insert_records(struct fuzz_random *r, struct records *own, const struct records *other)
{
    size_t at = fuzz_below(r, own->list.len + 1), n, from;

    if (!other->list.len)
        return 0;
    from = fuzz_below(r, other->list.len);
    n = 1 + fuzz_below(r, ml_min_u64(other->list.len - from, 16));
    if (ml_vec_reserve(&own->list, n))
        return -ENOMEM;
    memmove(own->list.items + at + n, own->list.items + at,
            (own->list.len - at) * sizeof(*own->list.items));
    /* When it is inserted into itself, the source may just have moved. */
    for (size_t i = 0; i < n; i++)
        own->list.items[at + i] = other->list.items[(from + i) % other->list.len];
    own->list.len += n;
    return 0;
}

static void delete_records(struct fuzz_random *r, struct records *own)
{
    size_t at = fuzz_below(r, own->list.len);
    size_t n = 1 + fuzz_below(r, ml_min_u64(own->list.len - at, 16));

    memmove(own->list.items + at, own->list.items + at + n,
            (own->list.len - at - n) * sizeof(*own->list.items));
    own->list.len -= n;
}

static void swap_records(struct fuzz_random *r, struct records *own)
{
    struct record *a = &own->list.items[fuzz_below(r, own->list.len)];
    struct record *b = &own->list.items[fuzz_below(r, own->list.len)], kept = *a;

    *a = *b;
    *b = kept;
}

static int damage(struct fuzz_random *r, struct records *own, const struct records *other)
{
    size_t times = 1 + fuzz_below(r, 8);
    int code = 0;

    while (!code && own->list.len && times--)
        switch (fuzz_below(r, 16)) {
        case 0: delete_records(r, own); break;
        case 1: swap_records(r, own); break;
        case 2: code = insert_records(r, own, other); break;
        case 3: code = insert_records(r, own, own); break;
        default: change_record(r, own); break;
        }
    return code;
}

/* ---- Encoding ----------------------------------------------------------- */

static int encode(struct fuzz_random *r, const struct records *own, struct ml_buf *ret)
{
    struct ml_maker_opts opts = {.stored = true,
                                 .block_events = 1 + (uint32_t)fuzz_below(r, 64),
                                 .no_index = fuzz_below(r, 16) == 0,
                                 .start_wall_ns = number(r, ML_SAMPLE_WALL_NS)};
    int fd = memfd_create("damaged", MFD_CLOEXEC), code;
    struct ml_maker *m = fd < 0 ? NULL : ml_maker_on_fd(fd, &opts);

    for (size_t i = 0; i < own->list.len; i++) {
        const struct record *record = &own->list.items[i];

        if (record->is_event)
            ml_maker_event(m, &record->event);
        else
            ml_maker_def(m, &record->def);
    }
    code = ml_maker_close(m);
    ml_buf_clear(ret);
    if (!code)
        code = ml_bytes_of_fd(fd, ret);
    if (fd >= 0)
        close(fd);
    return code;
}

int fuzz_damage_trace(struct fuzz_random *r, struct ml_buf *bytes, const struct ml_buf *other)
{
    struct records own = {0}, others = {0};
    int code = decode(bytes, &own);

    if (!code)
        code = decode(other, &others);
    if (!code)
        code = damage(r, &own, &others);
    if (!code)
        code = encode(r, &own, bytes);
    release(&own);
    release(&others);
    return code;
}
