/* trace_writer.c: writes blocks to a file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "trace_writer.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <zstd.h>

#include "def_columns.h"
#include "io.h"
#include "net_learning.h"
#include "trace_file.h"

/* Definitions are few. */
#define ZSTD_LEVEL_DEFS 3
/* On mallocs of real programs longer searches save 7 % of the bytes for 30 ns more an event, which
 * is affordable when events are this far apart. */
#define SLOW_EVENT_NS 300
/* Nanoseconds of mallocs would be a fifth of the file. */
#define SAVED_TIME_SHIFT 12

/* Readers refuse a file whose definitions unpack to more than 32 times its size. */
#define DEFS_RATIO_MAX 16

/* A block of so few events is written to the file in one step. */
#define SMALL_BLOCK_EVENTS 2048

static const struct ml_index_totals no_events;

void ml_trace_writer_abandon(struct ml_trace_writer *w)
{
    if (w->fd >= 0)
        close(w->fd);
    w->fd = -1;
    free(w->encoder);
    free(w->job.encoder);
    ml_buf_release(&w->job.defs);
    ZSTD_freeCCtx(w->zstd);
    ml_event_packer_release(&w->packer);
    ml_buf_release(&w->raw);
    ml_buf_release(&w->def_columns);
    ml_buf_release(&w->packed);
    ml_vec_release(&w->index);
    ml_vec_release(&w->index_counts);
    ml_window_free(w->window);
    w->window = NULL;
    ml_net_publisher_release(&w->nets);
}

void ml_trace_writer_discard(struct ml_trace_writer *w)
{
    if (w->is_new)
        unlink(w->path);
    ml_trace_writer_abandon(w);
}

/* Overwrites the start of an old trace, the rest of which goes only when that has worked. */
static int write_header(struct ml_trace_writer *w)
{
    int r;

    if (w->keeps_old)
        ml_trace_file_make_private(w->fd);
    r = ml_write_all(w->fd, w->header, sizeof(w->header));
    if (!r && w->keeps_old && ftruncate(w->fd, sizeof(w->header)))
        r = -errno;
    if (r && w->keeps_old && lseek(w->fd, 0, SEEK_SET) < 0)
        r = -errno;
    w->keeps_old = w->keeps_old && r;
    return r;
}

int ml_trace_writer_open(struct ml_trace_writer *w, const char *path, bool force,
                         uint64_t start_wall_ns, struct ml_dict *dict, struct ml_error *err)
{
    struct ml_file_header h = {ML_FORMAT_MAJOR, ML_FORMAT_MINOR, ML_FORMAT_FEATURES, start_wall_ns};
    struct ml_trace_file file;
    int r;

    memset(w, 0, sizeof(*w));
    w->fd = w->nets.fd = -1;
    r = ml_trace_file_open(&file, path, force, err);
    if (r)
        return r;
    w->dict = dict;
    w->start_wall_ns = start_wall_ns;
    w->path = path;
    w->fd = file.fd;
    w->is_new = file.is_new;
    w->can_rewrite = file.is_regular;
    w->keeps_old = file.is_regular && !file.is_new;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    w->encoder = calloc(1, sizeof(*w->encoder));
    w->job.encoder = calloc(1, sizeof(*w->encoder));
    w->zstd = ZSTD_createCCtx();
    if (!w->encoder || !w->job.encoder || !w->zstd || ml_event_packer_init(&w->packer) ||
        ml_buf_reserve(&w->raw, ML_EVENTS_RAW_MAX) ||
        ml_buf_reserve(&w->packed,
                       ML_BLOCK_HEADER_BYTES + ml_event_packer_room(ML_EVENTS_RAW_MAX))) {
        ml_trace_writer_discard(w);
        return ml_error_set(err, -ENOMEM, "not enough memory to write %s; see ulimit -v", path);
    }
    ml_encoder_init(w->encoder);
    ml_encoder_init(w->job.encoder);
    ml_file_header_put(w->header, &h);
    w->offset = sizeof(w->header);
    r = w->keeps_old ? 0 : write_header(w);
    if (r) {
        ml_trace_writer_discard(w);
        return ml_error_set(err, r, "cannot write %s: %s; choose another place with -o", path,
                            strerror(-r));
    }
    return 0;
}

int ml_trace_writer_keep(struct ml_trace_writer *w, const struct ml_window_limits *limits,
                         struct ml_error *err)
{
    if (!w->can_rewrite)
        return ml_error_set(err, -ESPIPE,
                            "%s is not a regular file, so its start cannot be dropped; choose a "
                            "file with -o",
                            w->path);
    return ml_window_new(limits, w->fd, w->path, w->start_wall_ns, &w->window, err);
}

void ml_trace_writer_publish(struct ml_trace_writer *w)
{
    (void)ml_net_publisher_init(&w->nets);
}

void ml_trace_writer_save_bytes(struct ml_trace_writer *w)
{
    w->saves_bytes = true;
    w->encoder->time_shift = w->job.encoder->time_shift = SAVED_TIME_SHIFT;
}

/* ---- Counts -------------------------------------------------------------- */

static void add_counts(struct ml_index_totals *sum, const struct ml_index_totals *c)
{
    for (int i = 0; i < ML_KIND_COUNT; i++)
        sum->events[i] += c->events[i];
    sum->lost += c->lost;
}

static void subtract_counts(struct ml_index_totals *sum, const struct ml_index_totals *c)
{
    for (int i = 0; i < ML_KIND_COUNT; i++)
        sum->events[i] -= c->events[i];
    sum->lost -= c->lost;
}

static uint64_t all_kinds(const struct ml_index_totals *c)
{
    uint64_t events = 0;

    for (int i = 0; i < ML_KIND_COUNT; i++)
        events += c->events[i];
    return events;
}

/* A lost ML_LOST event counts for the number that it had. */
static void count_lost(struct ml_trace_writer *w, const struct ml_index_totals *c,
                       uint64_t since_ns)
{
    if (!w->lost && !w->lost_notes)
        w->lost_since_ns = since_ns;
    w->lost_since_ns = ml_min_u64(w->lost_since_ns, since_ns);
    w->lost += all_kinds(c) - c->events[ML_LOST];
    w->lost_notes += c->lost;
}

/* ---- Blocks -------------------------------------------------------------- */

/* Appends `bytes` to the file. A partial write is undone, so that
 * the file still ends with a complete block. */
static int append(struct ml_trace_writer *w, const void *bytes, size_t len)
{
    int r = w->keeps_old ? write_header(w) : 0;

    if (r)
        return r;
    r = ml_write_all(w->fd, bytes, len);
    if (!r)
        w->offset += len;
    /* Cuts off the rest of a longer block that was here. */
    if ((r || w->file_end > w->offset) && ftruncate(w->fd, (off_t)w->offset))
        r = -errno;
    if (r && lseek(w->fd, (off_t)w->offset, SEEK_SET) < 0)
        r = -errno;
    w->file_end = w->offset;
    return r;
}

/* Precondition: there is room in both lists. */
static void enter_block(struct ml_trace_writer *w, const struct ml_index_entry *entry,
                        const struct ml_index_totals *counts)
{
    (void)ml_vec_push(&w->index, *entry);
    (void)ml_vec_push(&w->index_counts, *counts);
    w->sequence++;
    add_counts(&w->totals, counts);
    w->written += all_kinds(counts);
}

/* ---- A part of the trace --------------------------------------------------- */

/* Goes on with the file that has taken the name of the old one. */
static int take_successor(struct ml_trace_writer *w)
{
    struct ml_window_successor next;
    int r = ml_window_take_successor(w->window, &next);

    if (r)
        return r;
    close(w->fd);
    w->fd = next.fd;
    w->offset = w->file_end = next.file.bytes;
    w->sequence = (uint32_t)next.file.count;
    w->index.len = w->index_counts.len = 0;
    w->totals = no_events;
    if (ml_vec_reserve(&w->index, next.file.count) ||
        ml_vec_reserve(&w->index_counts, next.file.count))
        return -ENOMEM;
    for (size_t i = 0; i < next.file.count; i++) {
        w->index.items[w->index.len++] = next.file.blocks[i];
        w->index_counts.items[w->index_counts.len++] = next.file.counts[i];
        add_counts(&w->totals, &next.file.counts[i]);
    }
    return 0;
}

/* Before a block of so many bytes is appended. Precondition: no block is lent. */
static int make_room(struct ml_trace_writer *w, uint64_t bytes)
{
    struct ml_window_file file = {.blocks = w->index.items,
                                  .counts = w->index_counts.items,
                                  .count = w->index.len,
                                  .bytes = w->offset,
                                  .last_ns = w->last_ns};
    int r = ml_window_make_room(w->window, &file, bytes);

    return r > 0 ? take_successor(w) : r;
}

static bool has_time(const struct ml_trace_writer *w, const struct ml_block_header *h)
{
    return w->saves_bytes && h->last_ns - h->first_ns >= h->events * (uint64_t)SLOW_EVENT_NS;
}

/* @return false if the file does not tell what the key needs */
static bool make_net_key(const struct ml_trace_writer *w, const struct ml_index_entry *e,
                         struct ml_net_key *ret)
{
    struct stat st;

    if (fstat(w->fd, &st))
        return false;
    *ret = (struct ml_net_key){(uint64_t)st.st_ino, e->offset, e->first_ns,
                               e->last_ns,          e->events, e->stored_bytes};
    return true;
}

/* For followers, of the job's block, which will stay in the file: before they find it there. */
static void publish_net(struct ml_trace_writer *w, const struct ml_index_entry *e)
{
    bool small = e->events < SMALL_BLOCK_EVENTS;
    struct ml_net_key key;

    if ((small && !ml_net_publisher_is_on(&w->nets)) || !make_net_key(w, e, &key))
        return;
    if (w->job.ends_nets && ml_net_publisher_is_on(&w->nets))
        ml_net_publish_end(&w->nets, &key);
    else
        ml_net_publish(&w->nets, w->job.encoder, &key, !small);
}

/* @return the number of bytes; 0: zstd failed */
static size_t pack(struct ml_trace_writer *w, const struct ml_block_header *h, const uint8_t *raw,
                   size_t raw_bytes, uint8_t *out)
{
    size_t n;

    if (h->type == ML_BLOCK_EVENTS)
        return ml_event_packer_pack(&w->packer, has_time(w, h), raw, raw_bytes, out);
    n = ZSTD_compressCCtx(w->zstd, out, ZSTD_compressBound(raw_bytes), raw, raw_bytes,
                          ZSTD_LEVEL_DEFS);
    return ZSTD_isError(n) ? 0 : n;
}

/* Compresses and writes one block whose type, times and events are set in h.
 * `counts` are those of its events. */
static int append_block(struct ml_trace_writer *w, struct ml_block_header *h,
                        const struct ml_index_totals *counts, const uint8_t *raw, size_t raw_bytes)
{
    struct ml_index_entry entry = {0, h->first_ns, h->last_ns, 0, h->events, h->type};
    uint8_t *stored;
    size_t n;
    int r;

    ml_buf_clear(&w->packed);
    if (ml_buf_reserve(&w->packed, ML_BLOCK_HEADER_BYTES + ml_event_packer_room(raw_bytes)))
        return -ENOMEM;
    stored = w->packed.data + ML_BLOCK_HEADER_BYTES;
    n = pack(w, h, raw, raw_bytes, stored);
    if (!n)
        return -EIO;
    h->codec = ML_CODEC_ZSTD;
    if (h->type == ML_BLOCK_DEFS && raw_bytes / n > DEFS_RATIO_MAX) {
        memcpy(stored, raw, n = raw_bytes);
        h->codec = ML_CODEC_STORED;
    }
    if (w->window && h->type != ML_BLOCK_INDEX) {
        r = make_room(w, ML_BLOCK_HEADER_BYTES + n);
        if (r)
            return r;
    }
    entry.offset = w->offset;
    h->raw_bytes = (uint32_t)raw_bytes;
    h->stored_bytes = entry.stored_bytes = (uint32_t)n;
    h->sequence = w->sequence;
    ml_block_header_put(w->packed.data, h, stored);
    r = ml_vec_reserve(&w->index, 1) || ml_vec_reserve(&w->index_counts, 1) ? -ENOMEM : 0;
    if (!r && h->type == ML_BLOCK_EVENTS && counts == &w->job.counts)
        publish_net(w, &entry);
    if (!r)
        r = append(w, w->packed.data, ML_BLOCK_HEADER_BYTES + n);
    if (!r)
        enter_block(w, &entry, counts);
    return r;
}

/* Removes all blocks but the first `blocks` from the index and the totals. */
static void forget_blocks(struct ml_trace_writer *w, size_t blocks)
{
    w->offset = w->index.items[blocks].offset;
    w->sequence -= (uint32_t)(w->index.len - blocks);
    for (size_t i = blocks; i < w->index_counts.len; i++) {
        subtract_counts(&w->totals, &w->index_counts.items[i]);
        w->written -= all_kinds(&w->index_counts.items[i]);
    }
    w->index.len = w->index_counts.len = blocks;
}

/* Moves the end of the file back to the start of a lent block. Its bytes stay until
 * they are overwritten, which for a small block is one step. */
static int take_back(struct ml_trace_writer *w)
{
    if (!w->lent)
        return 0;
    w->lent = false;
    w->lent_events = 0;
    forget_blocks(w, w->index.len - 1);
    return lseek(w->fd, (off_t)w->offset, SEEK_SET) < 0 ? -errno : 0;
}

static int write_defs(struct ml_trace_writer *w)
{
    struct ml_write_job *job = &w->job;
    struct ml_block_header h = {.type = ML_BLOCK_DEFS,
                                .first_ns = w->last_ns,
                                .last_ns = w->last_ns,
                                .layout = ML_LAYOUT_COLUMNS,
                                .events = job->def_count};
    size_t len;

    if (!job->defs.len)
        return 0;
    ml_buf_clear(&w->def_columns);
    if (ml_buf_reserve(&w->def_columns, ml_def_columns_room(job->defs.len)))
        return -ENOMEM;
    len = ml_def_columns_put(w->def_columns.data, job->defs.data, job->defs.len);
    return len ? append_block(w, &h, &no_events, w->def_columns.data, len) : -EINVAL;
}

static void write_job(struct ml_trace_writer *w)
{
    struct ml_block_header h = {.type = ML_BLOCK_EVENTS};
    size_t raw_bytes = ml_encoder_write(w->job.encoder, w->raw.data, &h);
    int r = w->error ? w->error : take_back(w);

    if (!r)
        r = write_defs(w);
    if (raw_bytes)
        w->last_ns = h.last_ns;
    if (!r && raw_bytes)
        r = append_block(w, &h, &w->job.counts, w->raw.data, raw_bytes);
    ml_encoder_init(w->job.encoder);
    w->job.ends_nets = false;
    if (!r)
        return;
    w->error = r;
    count_lost(w, &w->job.counts, h.first_ns);
}

/* ---- The writing thread ------------------------------------------------- */

static void *write_jobs(void *arg)
{
    struct ml_trace_writer *w = arg;

    if (w->thread_id)
        atomic_store_explicit(w->thread_id, (uint32_t)syscall(SYS_gettid), memory_order_relaxed);
    pthread_mutex_lock(&w->lock);
    while (!w->thread_ends) {
        if (!w->job.waiting) {
            pthread_cond_wait(&w->changed, &w->lock);
            continue;
        }
        pthread_mutex_unlock(&w->lock);
        write_job(w);
        pthread_mutex_lock(&w->lock);
        w->job.waiting = false;
        pthread_cond_broadcast(&w->changed);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static void hand_over_defs(struct ml_trace_writer *w)
{
    struct ml_buf empty = w->job.defs;

    w->job.defs = w->dict->records;
    w->job.def_count = w->dict->record_count;
    ml_buf_clear(&empty);
    w->dict->records = empty;
    w->dict->record_count = 0;
    if (w->nets.fd >= 0)
        ml_net_definitions_learn(&w->nets.definitions, w->dict);
}

static void hand_over(struct ml_trace_writer *w)
{
    struct ml_encoder *filled = w->encoder;

    w->encoder = w->job.encoder;
    w->job.encoder = filled;
    w->job.counts = w->counts;
    w->counts = no_events;
    hand_over_defs(w);
    /* Times rise from block to block too. */
    w->encoder->floor_ns = filled->last_ns;
}

/* On a busy machine the thread may not get a processor for seconds. To targets a collector that
 * sleeps meanwhile looks stuck, since they do not know this thread. */
static void await_number(struct ml_trace_writer *w)
{
    while (!atomic_load_explicit(w->thread_id, memory_order_relaxed))
        sched_yield();
}

/* Not at open: the collector forks after that. */
static void start_thread(struct ml_trace_writer *w)
{
    if (w->thread_started)
        return;
    w->thread_started = !pthread_create(&w->thread, NULL, write_jobs, w);
    if (w->thread_started && w->thread_id)
        await_number(w);
}

/* With the lock held. */
static void wait_until_written(struct ml_trace_writer *w)
{
    while (w->job.waiting)
        pthread_cond_wait(&w->changed, &w->lock);
}

/* In the writing thread, if it was started. */
static void write_collected(struct ml_trace_writer *w)
{
    pthread_mutex_lock(&w->lock);
    wait_until_written(w);
    hand_over(w);
    if (w->thread_started)
        w->job.waiting = true;
    else
        write_job(w);
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

void ml_trace_writer_flush(struct ml_trace_writer *w)
{
    start_thread(w);
    write_collected(w);
}

/* With the writing thread idle. The events stay in the encoder, so there is
 * nothing to count if this fails: the next flush will. */
static int lend(struct ml_trace_writer *w)
{
    struct ml_block_header h = {.type = ML_BLOCK_EVENTS};
    size_t raw_bytes = ml_encoder_write(w->encoder, w->raw.data, &h);
    int r = take_back(w);

    hand_over_defs(w);
    if (!r)
        r = write_defs(w);
    if (!r && raw_bytes)
        r = append_block(w, &h, &w->counts, w->raw.data, raw_bytes);
    w->lent = !r && raw_bytes;
    w->lent_events = w->lent ? all_kinds(&w->counts) : 0;
    return r;
}

/* Whether everything collected is in the file. */
static bool is_saved(const struct ml_trace_writer *w)
{
    uint32_t lent = w->lent ? w->index.items[w->index.len - 1].events : 0;

    return w->encoder->events == lent && !w->dict->records.len;
}

bool ml_trace_writer_is_small(const struct ml_trace_writer *w)
{
    return w->encoder->events < SMALL_BLOCK_EVENTS;
}

void ml_trace_writer_settle(struct ml_trace_writer *w)
{
    write_collected(w);
    pthread_mutex_lock(&w->lock);
    wait_until_written(w);
    pthread_mutex_unlock(&w->lock);
}

/* A series of nets ends where the program has become slow. The block there is not lent again: each
 * time it would become another block, and only the last of them is in the file when a follower
 * looks for the net. */
void ml_trace_writer_save(struct ml_trace_writer *w)
{
    if (!ml_trace_writer_is_small(w)) {
        ml_trace_writer_flush(w);
        return;
    }
    pthread_mutex_lock(&w->lock);
    wait_until_written(w);
    w->job.ends_nets = w->lent && !w->error && ml_net_publisher_is_on(&w->nets);
    if (!w->job.ends_nets && !w->error && w->can_rewrite && !is_saved(w))
        w->error = lend(w);
    ml_net_publisher_rest(&w->nets);
    pthread_mutex_unlock(&w->lock);
    if (w->job.ends_nets)
        ml_trace_writer_settle(w);
}

static void stop_thread(struct ml_trace_writer *w)
{
    if (!w->thread_started)
        return;
    pthread_mutex_lock(&w->lock);
    wait_until_written(w);
    w->thread_ends = true;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
}

/* ---- Closing ------------------------------------------------------------ */

static int append_lost(struct ml_trace_writer *w)
{
    uint64_t lost = w->lost + w->lost_notes;
    struct ml_event ev = {.kind = ML_LOST,
                          .time_ns = w->last_ns,
                          .args = {lost, w->lost_since_ns, ML_LOST_NOT_WRITTEN}};
    struct ml_index_totals counts = {.events[ML_LOST] = 1, .lost = lost};
    struct ml_block_header h = {.type = ML_BLOCK_EVENTS};
    size_t raw_bytes;

    if (!lost)
        return 0;
    ml_encoder_add(w->encoder, &ev);
    raw_bytes = ml_encoder_finish(w->encoder, w->raw.data, &h);
    return append_block(w, &h, &counts, w->raw.data, raw_bytes);
}

static int append_index(struct ml_trace_writer *w)
{
    struct ml_block_header h = {.type = ML_BLOCK_INDEX,
                                .first_ns = w->last_ns,
                                .last_ns = w->last_ns,
                                .events = (uint32_t)w->index.len};
    struct ml_trailer trailer = {.index_offset = w->offset};
    uint8_t trailer_bytes[ML_TRAILER_BYTES];
    uint64_t previous = 0;
    uint8_t *p;
    int r;

    ml_buf_clear(&w->raw);
    if (ml_buf_reserve(&w->raw, ML_INDEX_COUNT_MAX + w->index.len * ML_INDEX_ENTRY_MAX +
                                    ML_INDEX_TOTALS_MAX))
        return -ENOMEM;
    p = ml_varint_put(w->raw.data, w->index.len);
    for (size_t i = 0; i < w->index.len; i++) {
        p = ml_index_entry_put(p, &w->index.items[i], previous);
        previous = w->index.items[i].offset;
    }
    p = ml_index_totals_put(p, &w->totals);
    r = append_block(w, &h, &no_events, w->raw.data, (size_t)(p - w->raw.data));
    if (r)
        return r;
    trailer.file_bytes = w->offset + ML_TRAILER_BYTES;
    ml_trailer_put(trailer_bytes, &trailer);
    return append(w, trailer_bytes, sizeof(trailer_bytes));
}

/* Cuts the file back to that many blocks. */
static int rewind_to(struct ml_trace_writer *w, size_t blocks)
{
    if (blocks == w->index.len)
        return 0;
    forget_blocks(w, blocks);
    if (ftruncate(w->fd, (off_t)w->offset) || lseek(w->fd, (off_t)w->offset, SEEK_SET) < 0)
        return -errno;
    return 0;
}

static int drop_last_block(struct ml_trace_writer *w)
{
    const struct ml_index_entry *e = &w->index.items[w->index.len - 1];

    count_lost(w, &w->index_counts.items[w->index.len - 1], e->first_ns);
    w->last_ns = e->first_ns;
    return rewind_to(w, w->index.len - 1);
}

static int append_end(struct ml_trace_writer *w)
{
    size_t blocks = w->index.len;
    int r = append_lost(w);

    if (!r)
        r = append_index(w);
    if (r)
        rewind_to(w, blocks);
    return r;
}

int ml_trace_writer_close(struct ml_trace_writer *w)
{
    int r;

    write_collected(w);
    stop_thread(w);
    r = append_end(w);
    while (r && w->index.len) {
        if (!w->error)
            w->error = r;
        if (drop_last_block(w))
            break;
        r = append_end(w);
    }
    ml_trace_writer_abandon(w);
    return w->error ? w->error : r;
}
