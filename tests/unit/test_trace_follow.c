/* test_trace_follow.c: an open trace grows with its file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "block.h"
#include "follow.h"
#include "trace_sample.h"
#include "trace_writer.h"

#define PATH "follow.mled"

static void write_file(const void *bytes, size_t len, int flags)
{
    int fd = open(PATH, O_WRONLY | O_CREAT | flags, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, len), (ssize_t)len);
    close(fd);
}

static struct ml_trace *open_it(void)
{
    struct ml_trace *t = NULL;
    struct ml_error err = {0};

    if (ml_trace_open(PATH, NULL, &t, &err))
        fail_msg("%s", err.text);
    return t;
}

static int grow(struct ml_trace *t)
{
    struct ml_error err = {0};
    int code = ml_trace_grow(t, &err);

    if (code < 0 && code != -ESTALE && code != -EBADMSG)
        fail_msg("%s", err.text);
    return code;
}

/* Reads the events after the first `events`, which must be those of the sample.
 * @return the number read so far */
static uint64_t read_on(const struct ml_trace *t, uint64_t events)
{
    struct ml_cursor *c = NULL;
    const struct ml_event *e;
    struct ml_error err = {0};
    int n;

    assert_int_equal(ml_cursor_open(t, 0, UINT64_MAX, &c, &err), 0);
    ml_cursor_skip(c, events);
    while ((n = ml_cursor_next(c, &e, &err)) > 0) {
        for (int i = 0; i < n; i++) {
            struct ml_event expected = ml_sample_event((uint32_t)events++);

            assert_int_equal(e[i].kind, expected.kind);
            assert_int_equal(e[i].time_ns, expected.time_ns);
            assert_int_equal(e[i].size, expected.size);
        }
    }
    assert_int_equal(n, 0);
    ml_cursor_free(c);
    return events;
}

/* Byte after byte: never half a block, and in the end everything. */
static void every_byte(void **state)
{
    struct ml_buf sample;
    struct ml_trace *t;
    uint64_t events = 0;

    (void)state;
    ml_buf_init(&sample);
    assert_int_equal(ml_sample_make(NULL, &sample), 0);
    write_file(sample.data, ML_FILE_HEADER_BYTES, O_TRUNC);
    t = open_it();
    for (size_t i = ML_FILE_HEADER_BYTES; i < sample.len; i++) {
        int grown;

        write_file(sample.data + i, 1, O_APPEND);
        grown = grow(t);
        assert_true(grown >= 0);
        if (grown)
            events = read_on(t, events);
        assert_int_equal(events, ml_trace_info(t)->events);
        ml_trace_forget(t, events);
    }
    assert_true(ml_trace_info(t)->has_index);
    assert_int_equal(events, ML_SAMPLE_EVENTS);
    assert_int_equal(ml_trace_info(t)->end_ns, (ML_SAMPLE_EVENTS - 1) * ML_SAMPLE_STEP_NS);
    assert_int_equal(grow(t), 0);
    ml_trace_free(t);
    ml_buf_release(&sample);
}

static void replace_and_cut(const struct ml_maker_opts *opts)
{
    struct ml_buf sample;
    struct ml_trace *t;

    ml_buf_init(&sample);
    assert_int_equal(ml_sample_make(opts, &sample), 0);
    write_file(sample.data, sample.len, O_TRUNC);
    t = open_it();
    assert_int_equal(grow(t), 0);
    assert_int_equal(truncate(PATH, (off_t)sample.len / 2), 0);
    assert_int_equal(grow(t), -ESTALE);
    ml_trace_free(t);
    write_file(sample.data, sample.len, O_TRUNC);
    t = open_it();
    unlink(PATH);
    assert_int_equal(grow(t), 0); /* its own file is still there */
    write_file(sample.data, sample.len, O_TRUNC);
    assert_int_equal(grow(t), -ESTALE);
    ml_trace_free(t);
    ml_buf_release(&sample);
}

static void replaced_and_cut(void **state)
{
    (void)state;
    replace_and_cut(&(struct ml_maker_opts){.no_index = true});
    replace_and_cut(NULL); /* the recording has ended */
}

#define REPLACEMENTS 100

/* Makes recordings that take each other's place. @return NULL, or an error's number */
static void *record_repeatedly(void *done)
{
    struct ml_error err = {0};
    struct ml_dict dict;
    intptr_t code = ml_dict_init(&dict);

    for (uint64_t n = 1; code == 0 && n <= REPLACEMENTS; n++) {
        struct ml_trace_writer w;

        code = ml_trace_writer_open(&w, PATH, true, n, &dict, &err);
        if (code)
            break;
        for (uint32_t i = 0; i < ML_SAMPLE_EVENTS; i++) {
            struct ml_event e = ml_sample_event(i);

            ml_trace_writer_event(&w, &e);
            if (i % 20 == 19)
                ml_trace_writer_flush(&w);
        }
        code = ml_trace_writer_close(&w);
    }
    ml_dict_release(&dict);
    atomic_store((_Atomic bool *)done, true);
    return (void *)code;
}

static void replaced_while_opened(void **state)
{
    _Atomic bool done = false;
    struct ml_buf sample;
    pthread_t recording;
    void *failure;

    (void)state;
    ml_buf_init(&sample);
    assert_int_equal(ml_sample_make(NULL, &sample), 0);
    write_file(sample.data, sample.len, O_TRUNC);
    assert_int_equal(pthread_create(&recording, NULL, record_repeatedly, &done), 0);
    while (!atomic_load(&done)) {
        struct ml_trace *t = NULL;
        struct ml_error err = {0};
        int code = ml_trace_open(PATH, NULL, &t, &err);

        if (code && code != -ESTALE) /* which it may be many times in a row */
            fail_msg("%s", err.text);
        ml_trace_free(t);
    }
    assert_int_equal(pthread_join(recording, &failure), 0);
    assert_null(failure);
    ml_buf_release(&sample);
}

/* A damaged block is an error only after a while: it might be half written. */
static void damaged(void **state)
{
    struct ml_buf sample;
    struct ml_trace *t;
    int code = 0;

    (void)state;
    ml_buf_init(&sample);
    assert_int_equal(ml_sample_make(&(struct ml_maker_opts){.no_index = true}, &sample), 0);
    write_file(sample.data, ML_FILE_HEADER_BYTES, O_TRUNC);
    t = open_it();
    sample.data[ML_FILE_HEADER_BYTES + ML_BLOCK_HEADER_BYTES + 3] ^= 1;
    write_file(sample.data + ML_FILE_HEADER_BYTES, sample.len - ML_FILE_HEADER_BYTES, O_APPEND);
    assert_int_equal(grow(t), 0);
    for (int i = 0; i < 1000 && code == 0; i++)
        code = grow(t);
    assert_int_equal(code, -EBADMSG);
    ml_trace_free(t);
    ml_buf_release(&sample);
}

/* The recorder's own writer lends small blocks and replaces them. Readers that opened the trace
 * before keep what they had. */
static void lent_blocks(void **state)
{
    struct ml_trace_writer w;
    struct ml_error err = {0};
    struct ml_trace *t = NULL;
    struct ml_dict dict;
    uint64_t events = 0;

    (void)state;
    assert_int_equal(ml_dict_init(&dict), 0);
    assert_int_equal(ml_trace_writer_open(&w, PATH, true, 5, &dict, &err), 0);
    for (uint32_t i = 0; i < ML_SAMPLE_EVENTS; i++) {
        struct ml_event e = ml_sample_event(i);

        ml_trace_writer_event(&w, &e);
        if (i % 7 == 0)
            ml_dict_config(&dict, "key", i % 2 ? "one" : "two");
        if (i % 20 == 19)
            ml_trace_writer_flush(&w);
        ml_trace_writer_save(&w);
        if (!t)
            t = open_it();
        assert_true(read_on(t, 0) >= events);
        assert_true(grow(t) >= 0);
        events = read_on(t, events);
        assert_in_range(events, i / 20 * 20, i + 1);
    }
    assert_int_equal(ml_trace_writer_close(&w), 0);
    assert_int_equal(grow(t), 1);
    assert_int_equal(read_on(t, events), ML_SAMPLE_EVENTS);
    assert_true(ml_trace_info(t)->has_index);
    ml_trace_free(t);
    ml_dict_release(&dict);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte),
        cmocka_unit_test(replaced_and_cut),
        cmocka_unit_test(replaced_while_opened),
        cmocka_unit_test(damaged),
        cmocka_unit_test(lent_blocks),
    };
    char folder[] = "/tmp/follow-XXXXXX";
    int r;

    if (!mkdtemp(folder) || chdir(folder))
        return 1;
    r = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(PATH);
    if (chdir("/") || rmdir(folder))
        return 1;
    return r;
}
