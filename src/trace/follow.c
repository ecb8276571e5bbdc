/* follow.c: see follow.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "follow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "file_lock.h"
#include "io.h"
#include "nanoseconds.h"
#include "trace_impl.h"

/* A block that cannot be read may be in the middle of being written. If it stays so for that many
 * polls, although the file goes on after it, it is damaged. */
#define STUCK_POLLS_MAX 50

/* ---- The last block ------------------------------------------------------- */

static const struct ml_index_entry *last_of(const struct ml_trace *t)
{
    return t->blocks.len ? &t->blocks.items[t->blocks.len - 1] : NULL;
}

static void drop_copy(struct ml_trace *t)
{
    free(t->last_block.data);
    t->last_block = (struct ml_block_copy){0};
}

int ml_trace_keep_last_block(struct ml_trace *t, struct ml_block_reader *r, struct ml_error *err)
{
    const struct ml_index_entry *last = last_of(t);
    uint8_t *data;
    int code;

    drop_copy(t);
    if (!last || last->type != ML_BLOCK_EVENTS)
        return 0;
    code = ml_block_load_entry(r, last);
    if (code == -EBADMSG) {
        t->next_offset = last->offset;
        t->blocks.len--;
        return 0;
    }
    data = code ? NULL : malloc(sizeof(r->head) + r->header.stored_bytes);
    if (!data)
        return ml_trace_block_error(t, last->offset, code ? code : -ENOMEM, NULL, err);
    memcpy(data, r->head, sizeof(r->head));
    memcpy(data + sizeof(r->head), r->stored.data, r->header.stored_bytes);
    t->last_block = (struct ml_block_copy){last->offset, data,
                                           sizeof(r->head) + (size_t)r->header.stored_bytes};
    return 0;
}

/* Removes the last block from the list if the file has another one in its place.
 * @return 0 or negative errno */
static int check_last_block(struct ml_trace *t)
{
    uint8_t head[ML_BLOCK_HEADER_BYTES];
    const struct ml_index_entry *last = last_of(t);
    int code;

    if (!last || !t->last_block.data)
        return 0;
    code = ml_pread_all(t->fd, head, sizeof(head), last->offset);
    if (code && code != -ENODATA)
        return code;
    if (code == 0 && memcmp(head, t->last_block.data, sizeof(head)) == 0)
        return 0;
    t->info.events -= last->events;
    t->info.event_bytes -= ml_block_end(0, last->stored_bytes);
    t->info.event_blocks--;
    t->next_offset = last->offset;
    t->blocks.len--;
    drop_copy(t);
    return 0;
}

/* ---- New blocks ------------------------------------------------------------ */

static bool is_other_file(const struct ml_trace *t, const struct stat *opened)
{
    struct stat named;

    return (stat(t->path, &named) == 0 &&
            (named.st_dev != opened->st_dev || named.st_ino != opened->st_ino)) ||
           ml_trace_is_replaced(t);
}

/* @return 1 if the block was added, 0 if it is not whole yet, or negative errno with a reason */
static int add_next(struct ml_trace *t, struct ml_block_reader *r, uint64_t offset)
{
    struct ml_index_entry e;
    int code = ml_block_load(r, offset);

    if (code == -EBADMSG) {
        bool more = r->whole || (!r->header_ok && t->info.file_bytes - offset > sizeof(r->head));

        t->stuck_polls += more;
        return t->stuck_polls > STUCK_POLLS_MAX ? code : 0;
    }
    if (code)
        return code;
    t->stuck_polls = 0;
    if (r->header.type == ML_BLOCK_INDEX) {
        t->info.has_index = true;
        return 0;
    }
    e = ml_block_entry(&r->header, offset);
    if (ml_vec_push(&t->blocks, e))
        return -ENOMEM;
    if (e.type != ML_BLOCK_DEFS)
        return 1;
    code = ml_trace_load_def_block(t, r, &e);
    return code ? code : 1;
}

/* @return the number of blocks added, or negative errno */
static int add_blocks(struct ml_trace *t, struct ml_block_reader *r, struct ml_error *err)
{
    size_t first = t->blocks.len;
    int code = 1;

    while (code > 0 && t->next_offset < t->info.file_bytes) {
        code = add_next(t, r, t->next_offset);
        if (code < 0)
            return ml_trace_block_error(t, t->next_offset, code, r->reason, err);
        if (code > 0)
            t->next_offset = ml_block_end(t->next_offset, last_of(t)->stored_bytes);
    }
    t->info.ignored_bytes = t->info.has_index ? 0 : t->info.file_bytes - t->next_offset;
    return (int)(t->blocks.len - first);
}

static int read_more(struct ml_trace *t, struct ml_error *err)
{
    size_t first = t->blocks.len;
    struct ml_block_reader r;
    int code, added;

    ml_trace_reader_init(t, &r);
    code = added = add_blocks(t, &r, err);
    if (added > 0)
        code = ml_trace_keep_last_block(t, &r, err);
    ml_block_reader_release(&r);
    if (code < 0)
        return code;
    ml_trace_sum_up(t, first);
    return t->blocks.len > first || t->info.has_index;
}

int ml_trace_grow(struct ml_trace *t, struct ml_error *err)
{
    struct stat st;
    int code;

    if (!t->next_offset)
        t->next_offset = last_of(t) ? ml_block_end(last_of(t)->offset, last_of(t)->stored_bytes)
                                    : ML_FILE_HEADER_BYTES;
    code = fstat(t->fd, &st) ? -errno : check_last_block(t);
    if (code)
        return ml_error_set(err, code, "%s: cannot read it: %s", t->path, strerror(-code));
    if ((uint64_t)st.st_size < t->next_offset || is_other_file(t, &st))
        return ml_trace_replaced_error(t, err);
    if (t->info.has_index)
        return 0;
    ml_trace_defs_allow(&t->defs, (uint64_t)st.st_size -
                                      ml_min_u64((uint64_t)st.st_size, t->info.file_bytes));
    t->info.file_bytes = (uint64_t)st.st_size;
    t->info.being_written = ml_file_lock_is_signed(t->fd);
    t->info.read_wall_ns = ml_clock_ns(CLOCK_REALTIME);
    return read_more(t, err);
}

void ml_trace_forget(struct ml_trace *t, uint64_t events)
{
    size_t kept = 0, last = t->blocks.len;
    uint64_t before = t->forgotten_events;

    /* The last one may be replaced. */
    for (size_t i = 0; i < last; i++) {
        const struct ml_index_entry e = t->blocks.items[i];
        bool is_last = i + 1 == last;

        before += e.type == ML_BLOCK_EVENTS ? e.events : 0;
        if (!is_last && (e.type != ML_BLOCK_EVENTS || before <= events))
            t->forgotten_events += e.type == ML_BLOCK_EVENTS ? e.events : 0;
        else
            t->blocks.items[kept++] = e;
    }
    t->blocks.len = kept;
}
