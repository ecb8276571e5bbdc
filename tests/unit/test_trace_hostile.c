/* test_trace_hostile.c: traces crafted to do harm, with correct checksums: they are rejected,
 * in little time and memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <zstd.h>

#include "block.h"
#include "index.h"
#include "trace_defs.h"
#include "trace_sample.h"
#include "varint.h"

/* A trace in the making, and its bytes once it is done. */
static int file;
static struct ml_buf bytes;

static struct ml_maker *begin(void)
{
    file = memfd_create("hostile", MFD_CLOEXEC);
    assert_true(file >= 0);
    return ml_maker_on_fd(file, NULL);
}

static void end(struct ml_maker *m)
{
    ml_buf_release(&bytes);
    assert_int_equal(ml_maker_close(m), 0);
    assert_int_equal(ml_bytes_of_fd(file, &bytes), 0);
    close(file);
}

static int release_bytes(void **state)
{
    (void)state;
    ml_buf_release(&bytes);
    return 0;
}

static void expect_refused(const char *words)
{
    struct ml_error err = {0};
    struct ml_trace *t = NULL;

    assert_int_equal(ml_bytes_open(bytes.data, bytes.len, false, &t, &err), -EBADMSG);
    if (!strstr(err.text, words))
        fail_msg("\"%s\" does not say \"%s\"", err.text, words);
}

static struct ml_trace *open_it(bool salvage)
{
    struct ml_error err = {0};
    struct ml_trace *t = NULL;

    if (ml_bytes_open(bytes.data, bytes.len, salvage, &t, &err))
        fail_msg("%s", err.text);
    return t;
}

/* ---- Definitions ------------------------------------------------------- */

static void define_one(const struct ml_def *def)
{
    struct ml_maker *m = begin();

    ml_maker_string(m, "one");
    ml_maker_def(m, def);
    end(m);
}

static void numbers_must_rise_one_by_one(void **state)
{
    struct ml_trace *t;

    (void)state;
    define_one(&(struct ml_def){.tag = ML_DEF_STRING, .id = 1, .bytes = "again", .len = 5});
    expect_refused("number is out of order");
    define_one(&(struct ml_def){.tag = ML_DEF_STRING, .id = 9, .bytes = "nine", .len = 4});
    expect_refused("number is out of order");
    t = open_it(true); /* the definitions between may have been lost */
    assert_string_equal(ml_trace_string(t, 9, NULL), "nine");
    assert_string_equal(ml_trace_string(t, 8, NULL), "?");
    ml_trace_free(t);
}

static void one_high_number_takes_no_memory(void **state)
{
    (void)state;
    for (unsigned tag = ML_DEF_STRING; tag < ML_DEF_TAGS; tag++) {
        struct ml_trace *t;

        if (tag == ML_DEF_CONFIG || tag == ML_DEF_SYMBOL || tag == ML_DEF_THREAD_NAME ||
            tag == ML_DEF_PROCESS_ROLE || tag == ML_DEF_PROCESS_PLACE)
            continue; /* they have no number of their own */
        define_one(&(struct ml_def){.tag = (uint8_t)tag, .id = ML_ID_MAX - 1, .bytes = ""});
        expect_refused("number is out of order");
        t = open_it(true);
        assert_int_equal(ml_trace_info(t)->damaged_blocks, 1);
        assert_true(ml_trace_strings(t) == 2 && ml_trace_threads(t) == 0);
        ml_trace_free(t);
    }
}

static void tables_may_begin_at_one(void **state)
{
    struct ml_trace *t;

    (void)state;
    define_one(&(struct ml_def){.tag = ML_DEF_THREAD, .id = 1, .fields = {0, 77}});
    t = open_it(false);
    assert_int_equal(ml_trace_threads(t), 2);
    assert_int_equal(ml_trace_thread(t, 1)->tid, 77);
    ml_trace_free(t);
}

static void values_must_fit(void **state)
{
    (void)state;
    define_one(&(struct ml_def){.tag = ML_DEF_THREAD, .fields = {1ull << 32}});
    expect_refused("value is out of range");
    define_one(&(struct ml_def){.tag = ML_DEF_PROCESS, .fields = {[ML_PROCESS_PARENT] = 1}});
    expect_refused("value is out of range");
    define_one(&(struct ml_def){.tag = ML_DEF_OBJECT, .fields = {[ML_OBJECT_DOMAIN] = 1}});
    expect_refused("value is out of range");
    define_one(&(struct ml_def){.tag = ML_DEF_SCOPE, .id = 1, .fields = {1}});
    expect_refused("value is out of range");
}

static void scopes_are_no_deeper_than_the_limit(void **state)
{
    struct ml_maker *m;
    struct ml_trace *t;

    (void)state;
    for (uint32_t depth = ML_SCOPE_MAX_DEPTH; depth <= ML_SCOPE_MAX_DEPTH + 1; depth++) {
        m = begin();
        for (uint32_t i = 0; i < depth; i++)
            ml_maker_scope(m, i, 0, 0);
        end(m);
        if (depth > ML_SCOPE_MAX_DEPTH) {
            expect_refused("value is out of range");
            continue;
        }
        t = open_it(false);
        assert_int_equal(ml_trace_scope(t, depth)->depth, depth);
        ml_trace_free(t);
    }
}

static void stacks_are_no_deeper_than_the_limit(void **state)
{
    (void)state;
    for (uint32_t depth = ML_STACK_MAX_DEPTH; depth <= ML_STACK_MAX_DEPTH + 1; depth++) {
        struct ml_maker *m = begin();

        for (uint32_t i = 0; i < depth; i++)
            ml_maker_stack(m, i, 0);
        end(m);
        if (depth > ML_STACK_MAX_DEPTH) {
            expect_refused("value is out of range");
        } else {
            struct ml_trace *t = open_it(false);
            assert_int_equal(ml_trace_stack(t, depth)->depth, depth);
            ml_trace_free(t);
        }
    }
}

static void stacks_do_not_go_in_circles(void **state)
{
    (void)state;
    define_one(&(struct ml_def){.tag = ML_DEF_STACK, .id = 1, .fields = {1}});
    expect_refused("value is out of range");
    define_one(&(struct ml_def){.tag = ML_DEF_STACK, .id = 1, .fields = {7}});
    expect_refused("value is out of range");
    define_one(&(struct ml_def){.tag = ML_DEF_STACK, .id = 0});
    expect_refused("number is out of order");
}

static void threads_and_processes_are_called_as_was_said_last(void **state)
{
    static const uint8_t tags[] = {ML_DEF_THREAD_NAME, ML_DEF_PROCESS_ROLE, ML_DEF_PROCESS_PLACE};
    struct ml_maker *m = begin();
    struct ml_trace *t;

    (void)state;
    ml_maker_def(m, &(struct ml_def){.tag = ML_DEF_PROCESS, .fields = {[ML_PROCESS_PID] = 7}});
    ml_maker_def(m, &(struct ml_def){.tag = ML_DEF_THREAD, .fields = {[ML_THREAD_TID] = 7}});
    for (size_t i = 0; i < ML_ARRAY_SIZE(tags); i++)
        ml_maker_def(m, &(struct ml_def){.tag = tags[i], .fields = {1}});
    end(m);
    t = open_it(false);
    assert_int_equal(ml_trace_thread(t, 0)->name, 1);
    assert_int_equal(ml_trace_process(t, 0)->role, 1);
    assert_int_equal(ml_trace_process(t, 0)->place, 1);
    ml_trace_free(t);
    for (size_t i = 0; i < ML_ARRAY_SIZE(tags);
         i++) { /* of a thread and a process that are not there */
        define_one(&(struct ml_def){.tag = tags[i], .id = 3, .fields = {1}});
        expect_refused("value is out of range");
        t = open_it(true); /* it may have been lost */
        assert_int_equal(ml_trace_info(t)->damaged_blocks, 0);
        ml_trace_free(t);
    }
}

static void frames_and_symbols_say_what_they_may(void **state)
{
    struct ml_def python = {.tag = ML_DEF_FRAME, .fields = {ML_FRAME_PYTHON, 1, 1ull << 32, 1}};
    struct ml_def later = {.tag = ML_DEF_FRAME, .fields = {9, 1, 1, 1}};
    struct ml_def symbol = {.tag = ML_DEF_SYMBOL, .id = 0, .fields = {1}};
    struct ml_maker *m;
    struct ml_trace *t;

    (void)state;
    define_one(&python);
    expect_refused("value is out of range");
    define_one(&symbol); /* of no frame */
    expect_refused("value is out of range");
    t = open_it(true); /* the frame may have been lost */
    assert_int_equal(ml_trace_info(t)->damaged_blocks, 0);
    ml_trace_free(t);
    m = begin();
    ml_maker_def(m, &later);
    ml_maker_def(m, &symbol);
    end(m);
    t = open_it(false);
    assert_true(ml_trace_frame(t, 0)->library == -1 && !ml_trace_frame(t, 0)->function);
    ml_trace_free(t);
    /* A library and a frame that are not there. */
    m = begin();
    ml_maker_frame(m, UINT32_MAX - 1, 1);
    ml_maker_stack(m, 0, UINT32_MAX);
    end(m);
    t = open_it(false);
    assert_int_equal(ml_trace_frame(t, ml_trace_stack(t, 1)->frame)->kind, 0);
    assert_int_equal(ml_trace_library(t, (uint32_t)ml_trace_frame(t, 0)->library)->path, 0);
    ml_trace_free(t);
}

static void settings_are_bounded(void **state)
{
    struct ml_maker *m = begin();

    (void)state;
    for (uint32_t i = 0; i <= ML_TRACE_CONFIGS_MAX; i++)
        ml_maker_def(m, &(struct ml_def){.tag = ML_DEF_CONFIG, .id = 0});
    end(m);
    expect_refused("value is out of range");
}

/* Zeros compress a thousandfold: a small file could fill any memory. */
static void definitions_do_not_unpack_without_bound(void **state)
{
    char *zeros = calloc(1, ML_STRING_MAX_BYTES);
    struct ml_maker *m = begin();
    struct ml_trace *t;

    (void)state;
    assert_non_null(zeros);
    for (int i = 0; i < 1000; i++)
        ml_maker_bytes(m, zeros, ML_STRING_MAX_BYTES);
    end(m);
    free(zeros);
    assert_true(bytes.len < 50000);
    expect_refused("unpacks to more definitions");
    t = open_it(true);
    assert_true(ml_trace_strings(t) > 1 && ml_trace_strings(t) < 700);
    ml_trace_free(t);
}

/* Blocks of zeros that continue each other. */
static int read_zeros(uint32_t blocks)
{
    uint8_t *zeros = calloc(1, ML_BLOCK_MAX_BYTES);
    struct ml_maker *m = begin();
    struct ml_buf section = {0};
    struct ml_trace *t;
    int r;

    assert_non_null(zeros);
    while (blocks-- > 0)
        ml_maker_block(m, &(struct ml_block_header){.type = ML_BLOCK_CHECKPOINT, .events = blocks},
                       zeros, ML_BLOCK_MAX_BYTES);
    end(m);
    free(zeros);
    t = open_it(false);
    r = ml_trace_read_section(t, 0, ML_BLOCK_CHECKPOINT, &section);
    ml_buf_release(&section);
    ml_trace_free(t);
    return r;
}

static void sections_do_not_unpack_without_bound(void **state)
{
    (void)state;
    assert_int_equal(read_zeros(1), 0);
    assert_int_equal(read_zeros(3), -EBADMSG);
    assert_true(bytes.len < 50000);
}

static void unknown_definitions_are_skipped(void **state)
{
    const uint8_t raw[] = {200, 1, 3, 1, 2, 3, ML_DEF_STRING, 2, 1, 'x'};
    struct ml_maker *m = begin();
    struct ml_trace *t;

    (void)state;
    ml_maker_block(m, &(struct ml_block_header){.type = ML_BLOCK_DEFS}, raw, sizeof(raw));
    end(m);
    t = open_it(false);
    assert_string_equal(ml_trace_string(t, 1, NULL), "x");
    ml_trace_free(t);
}

/* ---- Blocks ------------------------------------------------------------ */

static void unknown_blocks_are_skipped(void **state)
{
    struct ml_maker *m = begin();
    struct ml_trace *t;

    (void)state;
    ml_maker_event(m, &(struct ml_event){.kind = ML_PUSH});
    ml_maker_block(m, &(struct ml_block_header){.type = 77, .events = UINT32_MAX}, "what", 4);
    ml_maker_block(m, &(struct ml_block_header){.type = ML_BLOCK_CHECKPOINT}, "what", 4);
    ml_maker_event(m, &(struct ml_event){.kind = ML_POP, .time_ns = 5});
    end(m);
    t = open_it(false);
    assert_int_equal(ml_trace_info(t)->events, 2);
    ml_trace_free(t);
    bytes.len -= ML_TRAILER_BYTES;
    t = open_it(false);
    assert_int_equal(ml_trace_info(t)->events, 2);
    ml_trace_free(t);
}

static void add_block(struct ml_block_header h, const void *stored)
{
    uint8_t head[ML_BLOCK_HEADER_BYTES];

    ml_block_header_put(head, &h, stored);
    assert_int_equal(ml_buf_append(&bytes, head, sizeof(head)), 0);
    assert_int_equal(ml_buf_append(&bytes, stored, h.stored_bytes), 0);
}

static void begin_bytes(void)
{
    uint8_t head[ML_FILE_HEADER_BYTES];

    ml_buf_clear(&bytes);
    ml_file_header_put(head, &(struct ml_file_header){.major = ML_FORMAT_MAJOR});
    assert_int_equal(ml_buf_append(&bytes, head, sizeof(head)), 0);
}

/* One event that claims 32 MiB is refused before memory is taken for it. */
static void raw_size_must_suit_the_events(void **state)
{
    struct ml_trace *t;

    (void)state;
    begin_bytes();
    add_block((struct ml_block_header){.type = ML_BLOCK_EVENTS,
                                       .codec = ML_CODEC_ZSTD,
                                       .raw_bytes = ML_BLOCK_MAX_BYTES,
                                       .events = 1},
              "");
    add_block((struct ml_block_header){.type = ML_BLOCK_CHECKPOINT}, "");
    expect_refused("the block at byte 64 is damaged (header)");
    t = open_it(true);
    assert_int_equal(ml_trace_info(t)->damaged_blocks, 1);
    ml_trace_free(t);
}

static void sizes_must_be_true(void **state)
{
    char packed[256];
    struct ml_block_header h = {.type = ML_BLOCK_DEFS, .codec = ML_CODEC_ZSTD};

    (void)state;
    h.stored_bytes = (uint32_t)ZSTD_compress(packed, sizeof(packed), "\1\2\1x", 4, 1);
    begin_bytes();
    h.raw_bytes = 5;
    add_block(h, packed);
    expect_refused("the block at byte 64 is damaged (compression)");
    begin_bytes();
    h.raw_bytes = 3;
    add_block(h, packed);
    expect_refused("the block at byte 64 is damaged (compression)");
    begin_bytes();
    h = (struct ml_block_header){.type = ML_BLOCK_DEFS, .stored_bytes = 4, .raw_bytes = 3};
    add_block(h, "\1\2\1x");
    expect_refused("the block at byte 64 is damaged (header)");
}

/* False headers everywhere, each with megabytes to check. */
static void false_headers_do_not_cost_square_time(void **state)
{
    struct ml_trace *t;

    (void)state;
    begin_bytes();
    while (bytes.len < 4u << 20) {
        uint8_t head[ML_BLOCK_HEADER_BYTES] = {'M', 'L', 'B', 'K', 9, 0, 0, 0, 0, 0, 0x20};

        assert_int_equal(ml_buf_append(&bytes, head, sizeof(head)), 0);
    }
    add_block((struct ml_block_header){.type = ML_BLOCK_CHECKPOINT}, "");
    t = open_it(true);
    ml_trace_free(t);
}

/* ---- Index ------------------------------------------------------------- */

/* The sample with an index made of these entries. */
static void index_sample(const struct ml_index_entry *entries, size_t n, uint64_t count)
{
    uint8_t raw[4096], *p = ml_varint_put(raw, count), tail[ML_TRAILER_BYTES];
    struct ml_trailer trailer;
    uint64_t previous = 0;

    ml_buf_clear(&bytes);
    assert_int_equal(ml_sample_make(&(struct ml_maker_opts){.no_index = true}, &bytes), 0);
    trailer.index_offset = bytes.len;
    for (size_t i = 0; i < n; i++) {
        p = ml_index_entry_put(p, &entries[i], previous);
        previous = entries[i].offset;
    }
    p = ml_index_totals_put(p, &(struct ml_index_totals){0});
    add_block((struct ml_block_header){.type = ML_BLOCK_INDEX,
                                       .stored_bytes = (uint32_t)(p - raw),
                                       .raw_bytes = (uint32_t)(p - raw)},
              raw);
    trailer.file_bytes = bytes.len + sizeof(tail);
    ml_trailer_put(tail, &trailer);
    assert_int_equal(ml_buf_append(&bytes, tail, sizeof(tail)), 0);
}

static void expect_index_refused(const struct ml_index_entry *entries, size_t n, uint64_t count)
{
    struct ml_trace *t;

    index_sample(entries, n, count);
    expect_refused("entries contradict the file");
    t = open_it(true);
    assert_false(ml_trace_info(t)->has_index);
    assert_int_equal(ml_trace_info(t)->events, ML_SAMPLE_EVENTS);
    ml_trace_free(t);
}

static size_t sample_entries(struct ml_index_entry *ret)
{
    struct ml_block_header h;
    uint64_t at = ML_FILE_HEADER_BYTES;
    size_t n = 0;

    ml_buf_clear(&bytes);
    assert_int_equal(ml_sample_make(&(struct ml_maker_opts){.no_index = true}, &bytes), 0);
    for (; at < bytes.len; at += ML_BLOCK_HEADER_BYTES + h.stored_bytes, n++) {
        assert_int_equal(ml_block_header_get(bytes.data + at, &h), ML_FRAME_OK);
        ret[n] =
            (struct ml_index_entry){at, h.first_ns, h.last_ns, h.stored_bytes, h.events, h.type};
    }
    return n;
}

static void index_must_agree_with_the_file(void **state)
{
    struct ml_index_entry good[64], bad[64];
    size_t n = sample_entries(good);
    struct ml_trace *t;

    (void)state;
    index_sample(good, n, n);
    t = open_it(false);
    assert_true(ml_trace_info(t)->has_index);
    ml_trace_free(t);

    expect_index_refused(good, n - 1, n - 1);     /* hides the last block */
    expect_index_refused(good + 1, n - 1, n - 1); /* hides the first */
    expect_index_refused(good, n, n + 1);
    expect_index_refused(good, n, UINT64_MAX);
    memcpy(bad, good, sizeof(bad));
    bad[2].offset++;
    expect_index_refused(bad, n, n);
    memcpy(bad, good, sizeof(bad));
    bad[n - 1].stored_bytes++;
    expect_index_refused(bad, n, n);
    memcpy(bad, good, sizeof(bad));
    bad[1].type = ML_BLOCK_EVENTS;
    bad[1].events = ML_BLOCK_MAX_EVENTS + 1;
    expect_index_refused(bad, n, n);
}

/* Its offsets are right, but its times differ from the block's header. */
static void index_must_agree_with_the_headers(void **state)
{
    struct ml_index_entry entries[64] = {0};
    size_t n = sample_entries(entries), hit = 0;
    const struct ml_event *batch;
    struct ml_error err = {0};
    struct ml_cursor *c;
    struct ml_trace *t;

    (void)state;
    while (entries[hit].type != ML_BLOCK_EVENTS)
        hit++;
    entries[hit].last_ns++;
    index_sample(entries, n, n);
    t = open_it(false);
    assert_int_equal(ml_cursor_open(t, 0, UINT64_MAX, &c, NULL), 0);
    assert_int_equal(ml_cursor_next(c, &batch, &err), -EBADMSG);
    assert_non_null(strstr(err.text, "does not match the index"));
    ml_cursor_free(c);
    ml_trace_free(t);
    t = open_it(true);
    assert_int_equal(ml_trace_info(t)->damaged_blocks, 1);
    ml_trace_free(t);
}

#define TEST(name) cmocka_unit_test_teardown(name, release_bytes)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(numbers_must_rise_one_by_one),
        TEST(one_high_number_takes_no_memory),
        TEST(tables_may_begin_at_one),
        TEST(values_must_fit),
        TEST(scopes_are_no_deeper_than_the_limit),
        TEST(stacks_are_no_deeper_than_the_limit),
        TEST(stacks_do_not_go_in_circles),
        TEST(threads_and_processes_are_called_as_was_said_last),
        TEST(frames_and_symbols_say_what_they_may),
        TEST(settings_are_bounded),
        TEST(definitions_do_not_unpack_without_bound),
        TEST(sections_do_not_unpack_without_bound),
        TEST(unknown_definitions_are_skipped),
        TEST(unknown_blocks_are_skipped),
        TEST(raw_size_must_suit_the_events),
        TEST(sizes_must_be_true),
        TEST(false_headers_do_not_cost_square_time),
        TEST(index_must_agree_with_the_file),
        TEST(index_must_agree_with_the_headers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
