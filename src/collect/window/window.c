/* window.c: see window.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "window.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "block_read.h"
#include "file_lock.h"
#include "heartbeat.h"
#include "part_file.h"
#include "window_beside.h"

/* Shares of the limit, in sixteenths. The file and its successor together stay below 15, the rest
 * is for the index: the file grows from 7 by at most 1.5 while its successor is made, and the
 * successor has at most 5 and as many. */
#define SHARES 16
#define BEGIN_SHARES 7
#define SUCCESSOR_SHARES 5
#define ALL_SHARES 15

/* Bytes of old blocks that are handled for each byte that is written. */
#define PACE 6

/* What a time limit may drop must be worth a copy of the rest. */
#define DROP_LEAST (UINT64_C(1) << 20)

#define BATCH 1024

/* Bytes of a live block in the state, until the state has been written once. */
#define BLOCK_BYTES 8
#define MEASURED_LEAST 4096 /* blocks and notes, for a mean */

enum stage { RESTING, DROPPING, DUMPING, COPYING, COMPLETE };

struct ml_window {
    struct ml_window_limits limits;
    char *path;
    uint64_t start_wall_ns;
    int read_fd; /* of the file */
    bool owns_read_fd;
    struct ml_block_reader reader;
    struct ml_window_state state;
    struct ml_event events[BATCH];
    size_t repeated; /* blocks at the start of the file, whose events are in the state */

    enum stage stage;
    size_t taken;   /* blocks of the file that are in the state … */
    size_t cut;     /* … of this many, which are dropped */
    int64_t coming; /* live blocks that those which are not in the state yet will add to it */
    uint64_t credit;
    struct ml_window_dump dump;
    char *part; /* the successor's name until it is complete */
    int next_fd;
    struct ml_block_writer next;
    ml_totals_list counts; /* of its blocks */
    size_t copied;         /* blocks of the file that are in it */
    uint64_t state_bytes;  /* of its beginning; 0: not known yet */
    uint64_t events_begin; /* of its events */
    double block_bytes;    /* of a live block in the last state, on average; 0: not known yet */
    size_t next_repeated;
};

/* ---- Begin and end -------------------------------------------------------- */

static void forget_lists(struct ml_window *w)
{
    ml_block_writer_release(&w->next);
    ml_vec_release(&w->counts);
}

static void drop_successor(struct ml_window *w)
{
    if (w->part)
        unlink(w->part);
    free(w->part);
    w->part = NULL;
    if (w->next_fd >= 0)
        close(w->next_fd);
    w->next_fd = -1;
    ml_window_dump_release(&w->dump);
    forget_lists(w);
    w->stage = RESTING;
}

static int open_to_read(struct ml_window *w, int fd)
{
    char name[64];

    snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    w->read_fd = open(name, O_RDONLY | O_CLOEXEC);
    if (w->read_fd < 0)
        w->read_fd = open(w->path, O_RDONLY | O_CLOEXEC);
    w->owns_read_fd = w->read_fd >= 0;
    return w->read_fd < 0 ? -errno : 0;
}

/* Its folder must allow new files. */
static int try_beside(struct ml_window *w)
{
    int r;

    w->next_fd = ml_beside_make(w->path, &w->part);
    r = w->next_fd < 0 ? w->next_fd : ml_beside_name(w->next_fd, w->path, &w->part);
    drop_successor(w);
    return r;
}

int ml_window_new(const struct ml_window_limits *limits, int fd, const char *path,
                  uint64_t start_wall_ns, struct ml_window **ret, struct ml_error *err)
{
    struct ml_window *w = calloc(1, sizeof(*w));
    int r;

    if (!w)
        return ml_error_set(err, -ENOMEM, "not enough memory");
    w->limits = *limits;
    w->start_wall_ns = start_wall_ns;
    w->read_fd = w->next_fd = -1;
    w->path = realpath(path, NULL);
    r = w->path ? try_beside(w) : -errno;
    if (w->path && r == 0)
        r = open_to_read(w, fd);
    if (r < 0) {
        ml_window_free(w);
        return ml_error_set(err, r,
                            "cannot keep a part of %s only: %s; its folder must allow new files",
                            path, strerror(-r));
    }
    ml_block_reader_init(&w->reader, w->read_fd, 0);
    *ret = w;
    return 0;
}

void ml_window_free(struct ml_window *w)
{
    if (!w)
        return;
    drop_successor(w);
    if (w->owns_read_fd)
        close(w->read_fd);
    ml_block_reader_release(&w->reader);
    ml_window_state_release(&w->state);
    free(w->path);
    free(w);
}

void ml_window_set_heartbeat(struct ml_window *w, _Atomic uint64_t *heartbeat)
{
    w->state.blocks.heartbeat = heartbeat;
}

/* ---- What to drop --------------------------------------------------------- */

static uint64_t shares(const struct ml_window *w, uint64_t count)
{
    return w->limits.bytes / SHARES * count;
}

static uint64_t bytes_from(const struct ml_window_file *file, size_t block)
{
    return block < file->count ? file->bytes - file->blocks[block].offset : 0;
}

static uint64_t likely_block_bytes(const struct ml_window *w, int64_t blocks)
{
    return blocks > 0
               ? (uint64_t)((double)blocks * (w->block_bytes > 0 ? w->block_bytes : BLOCK_BYTES))
               : 0;
}

/* The bytes of the state, as far as they can be known. */
static uint64_t likely_state_bytes(const struct ml_window *w)
{
    int64_t blocks = (int64_t)w->state.blocks.kept;

    if (w->stage == COPYING)
        return w->state_bytes;
    if (w->stage == DUMPING && w->next_fd >= 0)
        return w->next.offset + likely_block_bytes(w, blocks - (int64_t)w->dump.next_block);
    return likely_block_bytes(w, blocks + w->coming) +
           (w->state.defs.len - w->state.blank_bytes) / 4;
}

/* How many blocks are live after the events of this part of the file, less those before. Ranges
 * that are freed cannot be counted. */
static int64_t blocks_added(const struct ml_window_file *file, size_t part)
{
    const uint64_t *events = file->counts[part].events;

    return (int64_t)(events[ML_ALLOC] + events[ML_ALLOC_EX] + events[ML_MOVE_FAILED]) -
           (int64_t)(events[ML_FREE] + events[ML_MOVE]);
}

/* The bytes of the state if all events of the file were dropped. */
static uint64_t coming_state_bytes(const struct ml_window *w, const struct ml_window_file *file)
{
    int64_t added = 0;

    for (size_t i = w->repeated; i < file->count; i++)
        added += blocks_added(file, i);
    return ml_max_u64(w->state_bytes, likely_state_bytes(w)) + likely_block_bytes(w, added);
}

/* A state that takes more than its share leaves room for few events before the next one. Then the
 * next one begins as late as possible, at the price that it is made at once. */
static uint64_t begin_bytes(const struct ml_window *w, const struct ml_window_file *file)
{
    uint64_t usual = shares(w, BEGIN_SHARES), all = shares(w, ALL_SHARES) - shares(w, 1) / 2;
    uint64_t state;

    if (w->state_bytes <= shares(w, SUCCESSOR_SHARES))
        return usual;
    state = coming_state_bytes(w, file);
    return state < all - usual ? all - state : usual;
}

/* Whether the file from this block on is more than may be kept. */
static bool is_too_much(const struct ml_window *w, const struct ml_window_file *file, size_t block)
{
    return w->limits.bytes &&
           bytes_from(file, block) + likely_state_bytes(w) > shares(w, SUCCESSOR_SHARES);
}

/* Whether what was to be kept exceeds its share although it seemed to fit. */
static bool is_far_too_much(const struct ml_window *w, const struct ml_window_file *file)
{
    return w->limits.bytes && bytes_from(file, w->cut) > shares(w, 1) &&
           bytes_from(file, w->cut) + likely_state_bytes(w) > shares(w, BEGIN_SHARES);
}

static bool is_too_old(const struct ml_window *w, const struct ml_window_file *file, size_t block)
{
    const struct ml_index_entry *e = &file->blocks[block];

    return w->limits.ns && file->last_ns > w->limits.ns &&
           e->last_ns < file->last_ns - w->limits.ns;
}

static bool is_due(const struct ml_window *w, const struct ml_window_file *file, size_t too_old,
                   uint64_t bytes)
{
    uint64_t rest = bytes_from(file, too_old);
    uint64_t gain = file->bytes - rest;

    if (w->limits.bytes && file->bytes + bytes > begin_bytes(w, file))
        return true;
    return gain > w->state_bytes + DROP_LEAST && gain - w->state_bytes > rest;
}

static void move_cut(struct ml_window *w, const struct ml_window_file *file)
{
    w->coming += blocks_added(file, w->cut++);
}

/* Decides whether to begin, and where the window will. The last block always stays. */
static void consider(struct ml_window *w, const struct ml_window_file *file, uint64_t bytes)
{
    size_t too_old = w->repeated;

    while (too_old + 1 < file->count && is_too_old(w, file, too_old))
        too_old++;
    if (file->count <= w->repeated + 1 || !is_due(w, file, too_old, bytes))
        return;
    w->taken = w->cut = w->repeated;
    w->coming = 0;
    while (w->cut < too_old || (w->cut + 1 < file->count && is_too_much(w, file, w->cut)))
        move_cut(w, file);
    if (w->cut > w->taken) {
        w->stage = DROPPING;
        w->credit = 0;
    }
}

/* ---- Steps ---------------------------------------------------------------- */

static int feed_events(struct ml_window *w, const struct ml_index_entry *entry)
{
    struct ml_decoder decoder;
    int r = ml_block_open_events(&w->reader, entry, &decoder), n = 0;

    while (r == 0 && (n = ml_decoder_next(&decoder, w->events, BATCH)) > 0)
        r = ml_window_state_feed(&w->state, w->events, (size_t)n);
    return r == 0 && n < 0 ? -EBADMSG : r;
}

static int feed_definitions(struct ml_window *w, const struct ml_index_entry *entry)
{
    const uint8_t *records;
    size_t len;
    int r = ml_block_load_entry(&w->reader, entry);

    if (r == 0)
        r = ml_block_unpack_records(&w->reader, &records, &len);
    return r != 0 ? r : ml_window_state_define(&w->state, records, len, entry->events);
}

static int drop_block(struct ml_window *w, const struct ml_window_file *file)
{
    const struct ml_index_entry *entry = &file->blocks[w->taken];
    int r = 0;

    w->credit -= ml_min_u64(w->credit, entry->stored_bytes + ML_BLOCK_HEADER_BYTES);
    if (entry->type == ML_BLOCK_EVENTS)
        r = feed_events(w, entry);
    else if (entry->type == ML_BLOCK_DEFS)
        r = feed_definitions(w, entry);
    w->coming -= blocks_added(file, w->taken++);
    if (w->taken == w->cut && w->cut + 1 < file->count && is_too_much(w, file, w->cut))
        move_cut(w, file);
    if (w->taken == w->cut && r == 0)
        w->stage = DUMPING;
    return r;
}

static int begin_successor(struct ml_window *w)
{
    int r;

    w->next_fd = ml_beside_make(w->path, &w->part);
    if (w->next_fd < 0)
        return w->next_fd;
    ml_block_writer_open(&w->next, w->next_fd, w->start_wall_ns);
    r = ml_window_dump_begin(&w->dump, &w->state);
    w->copied = w->cut;
    return r;
}

/* What the live blocks take in the state that is being written. */
static void measure_blocks(struct ml_window *w)
{
    size_t count = w->dump.next_block + w->dump.next_note;

    if (count == 0)
        w->events_begin = w->next.offset;
    else if (count >= MEASURED_LEAST)
        w->block_bytes = (double)(w->next.offset - w->events_begin) / (double)count;
}

/* The state turned out larger than expected: more is dropped before it is written. */
static void drop_more(struct ml_window *w, const struct ml_window_file *file)
{
    drop_successor(w);
    move_cut(w, file);
    w->stage = DROPPING;
}

static int dump_block(struct ml_window *w, const struct ml_window_file *file)
{
    uint64_t before = w->next.offset;
    int r = w->next_fd < 0 ? begin_successor(w) : 0;

    if (r == 0)
        r = ml_window_dump_block(&w->dump, &w->next, &w->counts);
    measure_blocks(w);
    w->credit -= ml_min_u64(w->credit, w->next.offset - before);
    if (r == 0 && w->cut + 1 < file->count && is_far_too_much(w, file)) {
        drop_more(w, file);
    } else if (r == 0 && w->dump.done) {
        w->next_repeated = w->next.index.len;
        w->state_bytes = w->next.offset;
        ml_window_dump_release(&w->dump);
        w->stage = COPYING;
    }
    return r;
}

static int copy_block(struct ml_window *w, const struct ml_window_file *file)
{
    const struct ml_index_entry *entry = &file->blocks[w->copied];
    int r;

    if (w->copied == file->count) {
        w->stage = COMPLETE;
        return 0;
    }
    r = ml_block_load_entry(&w->reader, entry);
    if (r == 0)
        r = ml_block_writer_copy(&w->next, &w->reader.header, w->reader.stored.data);
    if (r == 0)
        r = ml_vec_push(&w->counts, file->counts[w->copied]);
    w->credit -= ml_min_u64(w->credit, entry->stored_bytes + ML_BLOCK_HEADER_BYTES);
    w->copied++;
    return r;
}

static int step(struct ml_window *w, const struct ml_window_file *file)
{
    switch (w->stage) {
    case DROPPING: return drop_block(w, file);
    case DUMPING: return dump_block(w, file);
    case COPYING: return copy_block(w, file);
    default: return 0;
    }
}

/* What both files will have when the successor is complete, if nothing more is written before. */
static uint64_t bytes_of_both(const struct ml_window *w, const struct ml_window_file *file)
{
    return file->bytes +
           ml_max_u64(likely_state_bytes(w) + bytes_from(file, w->cut), w->next.offset);
}

static bool is_tight(const struct ml_window *w, const struct ml_window_file *file, uint64_t bytes)
{
    return w->limits.bytes && bytes_of_both(w, file) + 2 * bytes > shares(w, ALL_SHARES);
}

/* Whether nothing could be dropped, or what remains would have to be copied again at once. */
static bool is_hopeless(const struct ml_window *w, const struct ml_window_file *file,
                        uint64_t bytes)
{
    if (w->stage == COMPLETE)
        return w->state_bytes > shares(w, BEGIN_SHARES);
    return w->stage == RESTING && file->bytes + bytes > shares(w, ALL_SHARES);
}

int ml_window_make_room(struct ml_window *w, const struct ml_window_file *file, uint64_t bytes)
{
    int r = 0;

    w->reader.fd = w->read_fd;
    w->reader.file_bytes = file->bytes;
    if (w->stage == RESTING) {
        forget_lists(w);
        consider(w, file, bytes);
    }
    w->credit += PACE * bytes;
    while (r == 0 && w->stage != RESTING && w->stage != COMPLETE &&
           (w->credit > 0 || is_tight(w, file, bytes))) {
        r = step(w, file);
        ml_heartbeat_raise(w->state.blocks.heartbeat);
        if (w->limits.bytes && file->bytes + w->next.offset > w->limits.bytes)
            r = -EFBIG;
    }
    if (r == 0 && w->limits.bytes && is_hopeless(w, file, bytes))
        r = -EFBIG;
    if (r < 0)
        drop_successor(w);
    return r < 0 ? r : w->stage == COMPLETE;
}

int ml_window_take_successor(struct ml_window *w, struct ml_window_successor *ret)
{
    int r;

    ml_file_lock_sign(w->next_fd);
    r = ml_beside_name(w->next_fd, w->path, &w->part);
    if (r == 0)
        r = ml_part_place(w->part, w->path, true);
    if (r < 0) {
        drop_successor(w);
        return r;
    }
    (void)ml_file_lock(w->next_fd, w->path);
    if (w->owns_read_fd)
        close(w->read_fd);
    w->owns_read_fd = false;
    w->read_fd = w->next_fd; /* the caller's from now on, until it takes another one */
    w->next_fd = -1;
    free(w->part);
    w->part = NULL;
    w->repeated = w->next_repeated;
    w->stage = RESTING;
    *ret = (struct ml_window_successor){
        .fd = w->read_fd,
        .file = {.blocks = w->next.index.items,
                 .counts = w->counts.items,
                 .count = w->next.index.len,
                 .bytes = w->next.offset},
    };
    return 0;
}
