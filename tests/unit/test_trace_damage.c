/* test_trace_damage.c: traces that were truncated or have flipped bits: intact blocks are read,
 * and damaged ones are never passed off as intact.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "block.h"
#include "trace_impl.h"
#include "trace_sample.h"

static const struct ml_maker_opts stored_opts = {.stored = true};

struct blocks {
    struct ml_buf bytes;
    size_t count;
    struct ml_index_entry at[64];
};

/* The sample and where its blocks lie. */
static void make_blocks(struct blocks *b, const struct ml_maker_opts *opts)
{
    struct ml_trace *t;

    memset(b, 0, sizeof(*b));
    assert_int_equal(ml_sample_make(opts, &b->bytes), 0);
    assert_int_equal(ml_bytes_open(b->bytes.data, b->bytes.len, false, &t, NULL), 0);
    b->count = t->blocks.len;
    assert_true(b->count <= 64);
    memcpy(b->at, t->blocks.items, b->count * sizeof(b->at[0]));
    ml_trace_free(t);
}

static size_t nth_block(const struct blocks *b, uint8_t type, int n)
{
    for (size_t i = 0; i < b->count; i++) {
        if (b->at[i].type == type && n-- == 0)
            return i;
    }
    fail_msg("no such block");
    return 0;
}

static uint64_t end_of(const struct ml_index_entry *e)
{
    return ml_block_end(e->offset, e->stored_bytes);
}

/* Which of the sample's events were read, one bit each, and what came last. */
struct reading {
    uint64_t events;
    int code;
    struct ml_trace_info info;
    struct ml_error err;
};

static void check_event(const struct ml_event *ev, struct reading *r)
{
    uint32_t i = (uint32_t)(ev->time_ns / ML_SAMPLE_STEP_NS);
    struct ml_event want = ml_sample_event(i);

    assert_true(i < ML_SAMPLE_EVENTS);
    assert_int_equal(ev->time_ns, want.time_ns);
    assert_int_equal(ev->kind, want.kind);
    assert_int_equal(ev->addr, want.addr);
    assert_int_equal(ev->size, want.size);
    assert_int_equal(ev->thread, want.thread);
    assert_int_equal(ev->space, want.space);
    assert_int_equal(ev->scope, want.scope);
    assert_int_equal(ev->stack, want.stack);
    assert_memory_equal(ev->args, want.args, sizeof(want.args));
    r->events |= 1ull << i;
}

static struct reading read_all(const void *bytes, size_t len, bool salvage)
{
    struct reading r = {0};
    const struct ml_event *batch;
    struct ml_cursor *c;
    struct ml_trace *t;

    r.code = ml_bytes_open(bytes, len, salvage, &t, &r.err);
    if (r.code)
        return r;
    r.info = *ml_trace_info(t);
    assert_int_equal(ml_cursor_open(t, 0, UINT64_MAX, &c, NULL), 0);
    while ((r.code = ml_cursor_next(c, &batch, &r.err)) > 0) {
        for (int i = 0; i < r.code; i++)
            check_event(&batch[i], &r);
    }
    ml_cursor_free(c);
    ml_trace_free(t);
    return r;
}

#define ALL_EVENTS ((1ull << ML_SAMPLE_EVENTS) - 1)

static uint64_t events_of(const struct ml_index_entry *e)
{
    uint64_t first = e->first_ns / ML_SAMPLE_STEP_NS;

    return e->type == ML_BLOCK_EVENTS ? ((1ull << e->events) - 1) << first : 0;
}

/* ---- Cut short --------------------------------------------------------- */

static void expect_cut(const struct blocks *b, size_t len, bool salvage)
{
    uint64_t whole = 0, end = ML_FILE_HEADER_BYTES;
    struct reading r = read_all(b->bytes.data, len, salvage);

    for (size_t i = 0; i < b->count && end_of(&b->at[i]) <= len; i++) {
        whole |= events_of(&b->at[i]);
        end = end_of(&b->at[i]);
    }
    assert_int_equal(r.code, 0);
    assert_int_equal(r.events, whole);
    assert_false(r.info.has_index);
    assert_int_equal(r.info.damaged_blocks, 0);
    if (len < b->bytes.len - ML_TRAILER_BYTES)
        assert_int_equal(r.info.ignored_bytes, len - end);
    else
        assert_int_equal(r.info.ignored_bytes, len - (b->bytes.len - ML_TRAILER_BYTES));
}

static void expect_every_cut(const struct ml_maker_opts *opts)
{
    struct blocks b;

    make_blocks(&b, opts);
    for (size_t len = 0; len < ML_FILE_HEADER_BYTES; len++)
        assert_true(read_all(b.bytes.data, len, len % 2).code < 0);
    for (size_t len = ML_FILE_HEADER_BYTES; len < b.bytes.len; len++) {
        expect_cut(&b, len, false);
        expect_cut(&b, len, true);
    }
    ml_buf_release(&b.bytes);
}

static void every_cut_keeps_whole_blocks(void **state)
{
    (void)state;
    expect_every_cut(NULL);
    expect_every_cut(&stored_opts);
}

/* A recorder that sets space aside and is killed leaves zeros, or a hole. */
static void zeros_at_the_end_are_ignored(void **state)
{
    int fd = memfd_create("zeros", MFD_CLOEXEC);
    struct ml_error err = {0};
    struct ml_trace *t;
    struct blocks b;
    uint64_t end;

    (void)state;
    make_blocks(&b, NULL);
    end = end_of(&b.at[b.count - 1]);
    assert_int_equal(write(fd, b.bytes.data, end), (ssize_t)end);
    assert_int_equal(ftruncate(fd, (off_t)1 << 40), 0);
    if (ml_trace_open_fd(fd, "zeros.mled", NULL, &t, &err))
        fail_msg("%s", err.text);
    assert_int_equal(ml_trace_info(t)->events, ML_SAMPLE_EVENTS);
    assert_int_equal(ml_trace_info(t)->ignored_bytes, (1ull << 40) - end);
    ml_trace_free(t);
    ml_buf_release(&b.bytes);
}

/* A file that shrinks after it was opened: an error, not a signal. */
static void shrinking_file_is_an_error(void **state)
{
    int fd = memfd_create("shrinks", MFD_CLOEXEC);
    const struct ml_event *batch;
    struct ml_error err = {0};
    struct ml_cursor *c;
    struct ml_trace *t;
    struct blocks b;

    (void)state;
    make_blocks(&b, NULL);
    assert_int_equal(write(fd, b.bytes.data, b.bytes.len), (ssize_t)b.bytes.len);
    assert_int_equal(ml_trace_open_fd(fd, "shrinks.mled", NULL, &t, NULL), 0);
    assert_int_equal(ml_cursor_open(t, 0, UINT64_MAX, &c, NULL), 0);
    assert_int_equal(ftruncate(fd, ML_FILE_HEADER_BYTES + 10), 0);
    assert_int_equal(ml_cursor_next(c, &batch, &err), -EBADMSG);
    assert_non_null(strstr(err.text, "cut short"));
    assert_int_equal(ml_cursor_next(c, &batch, &err), -EBADMSG);
    ml_cursor_free(c);
    ml_trace_free(t);
    ml_buf_release(&b.bytes);
}

/* ---- Rotten bits ------------------------------------------------------- */

/* A flip is an error, or it hit the trailer, which costs the index only. */
static void expect_flip_seen(const struct blocks *b, size_t at)
{
    struct reading r = read_all(b->bytes.data, b->bytes.len, false);

    if (r.code >= 0) {
        assert_true(at >= b->bytes.len - ML_TRAILER_BYTES);
        assert_false(r.info.has_index);
        assert_int_equal(r.info.ignored_bytes, ML_TRAILER_BYTES);
        assert_int_equal(r.events, ALL_EVENTS);
    }
}

/* With salvage everything else is read, and one thing is counted as damaged. */
static void expect_flip_salvaged(const struct blocks *b, size_t at)
{
    struct reading r = read_all(b->bytes.data, b->bytes.len, true);
    uint64_t lost = 0;

    if (at < 8) {
        assert_int_equal(r.code, -EINVAL);
        return;
    }
    for (size_t i = 0; i < b->count; i++) {
        if (b->at[i].offset <= at && at < end_of(&b->at[i]))
            lost = events_of(&b->at[i]);
    }
    assert_int_equal(r.code, 0);
    assert_int_equal(r.events, ALL_EVENTS & ~lost);
    assert_int_equal(r.info.events + r.info.damaged_events, ML_SAMPLE_EVENTS);
    assert_true(r.info.damaged_blocks == 1 || !r.info.has_index);
}

static void expect_every_flip(const struct ml_maker_opts *opts)
{
    struct blocks b;

    make_blocks(&b, opts);
    for (size_t at = 0; at < b.bytes.len; at++) {
        uint8_t bit = (uint8_t)(1 << at % 8);

        b.bytes.data[at] ^= bit;
        expect_flip_seen(&b, at);
        expect_flip_salvaged(&b, at);
        b.bytes.data[at] ^= 0xff ^ bit; /* and the other seven */
        b.bytes.data[at] ^= bit;
        expect_flip_seen(&b, at);
        b.bytes.data[at] ^= 0xff ^ bit;
    }
    ml_buf_release(&b.bytes);
}

static void every_flip_is_seen(void **state)
{
    (void)state;
    expect_every_flip(NULL);
    expect_every_flip(&stored_opts);
}

/* ---- Salvage ----------------------------------------------------------- */

static void expect_salvage(const struct blocks *b, size_t len, size_t hit)
{
    struct reading plain = read_all(b->bytes.data, len, false);
    struct reading r = read_all(b->bytes.data, len, true);
    char offset[64];

    snprintf(offset, sizeof(offset), "the block at byte %llu is damaged",
             (unsigned long long)b->at[hit].offset);
    assert_int_equal(plain.code, -EBADMSG);
    assert_non_null(strstr(plain.err.text, offset));
    assert_non_null(strstr(plain.err.text, "--salvage reads the rest"));
    assert_int_equal(r.code, 0);
    assert_int_equal(r.events, ALL_EVENTS & ~events_of(&b->at[hit]));
    assert_int_equal(r.info.damaged_blocks, 1);
    assert_int_equal(r.info.events, ML_SAMPLE_EVENTS - ML_SAMPLE_BLOCK_EVENTS);
}

/* Contents, magic or length of a block are wrong; with the index and without. */
static void one_block_in_the_middle_is_passed_over(void **state)
{
    static const struct {
        size_t at;
        bool header_readable;
    } spots[] = {{ML_BLOCK_HEADER_BYTES + 3, true}, {1, false}, {9, true}, {11, false}};

    (void)state;
    for (size_t i = 0; i < sizeof(spots) / sizeof(spots[0]); i++) {
        struct blocks b;
        size_t hit, cut;

        make_blocks(&b, NULL);
        hit = nth_block(&b, ML_BLOCK_EVENTS, 2);
        cut = end_of(&b.at[b.count - 1]);
        b.bytes.data[b.at[hit].offset + spots[i].at] ^= 0x55;
        expect_salvage(&b, b.bytes.len, hit);
        expect_salvage(&b, cut, hit);
        assert_int_equal(read_all(b.bytes.data, b.bytes.len, true).info.damaged_events,
                         ML_SAMPLE_BLOCK_EVENTS);
        if (spots[i].header_readable)
            assert_int_equal(read_all(b.bytes.data, cut, true).info.damaged_events,
                             ML_SAMPLE_BLOCK_EVENTS);
        ml_buf_release(&b.bytes);
    }
}

static void lost_definitions_leave_placeholders(void **state)
{
    struct ml_error err = {0};
    struct ml_trace *t = NULL;
    struct blocks b;
    size_t hit;

    (void)state;
    make_blocks(&b, NULL);
    hit = nth_block(&b, ML_BLOCK_DEFS, 3);
    b.bytes.data[end_of(&b.at[hit]) - 1] ^= 1;
    assert_int_equal(ml_bytes_open(b.bytes.data, b.bytes.len, false, &t, &err), -EBADMSG);
    assert_int_equal(ml_bytes_open(b.bytes.data, b.bytes.len, true, &t, &err), 0);
    assert_int_equal(ml_trace_info(t)->damaged_blocks, 1);
    assert_int_equal(ml_trace_info(t)->events, ML_SAMPLE_EVENTS);
    assert_int_equal(ml_trace_scopes(t), ML_SAMPLE_BLOCKS + 1);
    assert_int_equal(ml_trace_scope(t, 2)->depth, 2);
    assert_int_equal(ml_trace_scope(t, 3)->depth, 0);
    assert_int_equal(ml_trace_scope(t, 4)->parent, 3);
    assert_int_equal(ml_trace_scope(t, 4)->depth, 1);
    assert_string_equal(ml_trace_string(t, ml_trace_scope(t, 2)->name + 1, NULL), "?");
    assert_string_equal(ml_trace_string(t, ml_trace_scope(t, 4)->name, NULL), "layer");
    ml_trace_free(t);
    ml_buf_release(&b.bytes);
}

static void damaged_index_is_named_and_done_without(void **state)
{
    struct blocks b;
    struct reading r;
    uint64_t index_at;

    (void)state;
    make_blocks(&b, NULL);
    index_at = end_of(&b.at[b.count - 1]);
    b.bytes.data[index_at + ML_BLOCK_HEADER_BYTES + 2] ^= 4;
    r = read_all(b.bytes.data, b.bytes.len, false);
    assert_int_equal(r.code, -EBADMSG);
    assert_non_null(strstr(r.err.text, "index at byte"));
    assert_non_null(strstr(r.err.text, "--salvage"));
    r = read_all(b.bytes.data, b.bytes.len, true);
    assert_int_equal(r.code, 0);
    assert_int_equal(r.events, ALL_EVENTS);
    assert_int_equal(r.info.damaged_blocks, 1);
    assert_int_equal(r.info.ignored_bytes, ML_TRAILER_BYTES);
    ml_buf_release(&b.bytes);
}

/* The sum is right and the columns are not: a writer's fault, found by decoding. */
static void wrong_contents_under_a_right_sum_are_seen(void **state)
{
    struct ml_block_header h;
    struct blocks b;
    uint8_t *block;
    size_t hit;

    (void)state;
    make_blocks(&b, &stored_opts);
    hit = nth_block(&b, ML_BLOCK_EVENTS, 2);
    block = b.bytes.data + b.at[hit].offset;
    block[ML_BLOCK_HEADER_BYTES + 52] = 31; /* a kind that does not exist */
    assert_int_equal(ml_block_header_get(block, &h), ML_FRAME_OK);
    ml_block_header_put(block, &h, block + ML_BLOCK_HEADER_BYTES);
    expect_salvage(&b, b.bytes.len, hit);
    ml_buf_release(&b.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cut_keeps_whole_blocks),
        cmocka_unit_test(zeros_at_the_end_are_ignored),
        cmocka_unit_test(shrinking_file_is_an_error),
        cmocka_unit_test(every_flip_is_seen),
        cmocka_unit_test(one_block_in_the_middle_is_passed_over),
        cmocka_unit_test(lost_definitions_leave_placeholders),
        cmocka_unit_test(damaged_index_is_named_and_done_without),
        cmocka_unit_test(wrong_contents_under_a_right_sum_are_seen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
