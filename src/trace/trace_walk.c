/* trace_walk.c: the list of blocks of a file without an index, which was cut
 * short: from the file header to the last whole block.
 *
 * Unreadable bytes without a whole block after them are the cut end; with one after them they
 * are damage.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "trace_impl.h"

#include <errno.h>

#define SEARCH_LEAST_BYTES (64u << 20)
#define SEARCH_PER_FILE_BYTE 4

struct walk {
    struct ml_trace *t;
    struct ml_block_reader *r;
    struct ml_resync resync;
    uint64_t offset;
};

static int add_block(struct walk *w)
{
    struct ml_index_entry e = ml_block_entry(&w->r->header, w->offset);

    if (ml_vec_push(&w->t->blocks, e))
        return -ENOMEM;
    w->offset = ml_block_end(w->offset, e.stored_bytes);
    return 0;
}

/* Nothing can be read after the offset. A complete block with a wrong checksum still counts as
 * damaged if damage is counted. */
static void end_walk(struct walk *w, bool block_is_there, const struct ml_block_header *h)
{
    struct ml_trace *t = w->t;

    if (t->salvage && block_is_there) {
        ml_trace_count_damage(t, h->type, h->events);
        w->offset = ml_block_end(w->offset, h->stored_bytes);
    }
    t->info.ignored_bytes = t->info.file_bytes - w->offset;
    w->offset = t->info.file_bytes;
}

static int pass_over(struct walk *w, int failure, struct ml_error *err)
{
    const struct ml_block_header h = w->r->header;
    const bool header_ok = w->r->header_ok, whole = w->r->whole;
    const char *reason = w->r->reason;
    uint64_t next;
    int code;

    if (failure != -EBADMSG && !ml_trace_may_pass(w->t, failure))
        return ml_trace_block_error(w->t, w->offset, failure, reason, err);
    code = ml_resync(&w->resync, w->r, w->offset, &next);
    if (code < 0)
        return ml_trace_block_error(w->t, w->offset, code, reason, err);
    if (!code) {
        end_walk(w, whole, &h);
        return 0;
    }
    if (!w->t->salvage)
        return ml_trace_block_error(w->t, w->offset, failure, reason, err);
    ml_trace_count_damage(w->t, header_ok ? h.type : 0, h.events);
    w->offset = next;
    return 0;
}

static int step(struct walk *w, struct ml_error *err)
{
    int code = ml_block_load(w->r, w->offset);

    if (code)
        return pass_over(w, code, err);
    code = add_block(w);
    return code ? ml_trace_block_error(w->t, w->offset, code, NULL, err) : 0;
}

int ml_trace_walk(struct ml_trace *t, struct ml_block_reader *r, struct ml_error *err)
{
    struct walk w = {
        .t = t,
        .r = r,
        .resync = {SEARCH_LEAST_BYTES + t->info.file_bytes * SEARCH_PER_FILE_BYTE},
        .offset = ML_FILE_HEADER_BYTES,
    };
    int code = 0;

    while (!code && w.offset < t->info.file_bytes)
        code = step(&w, err);
    return code;
}
