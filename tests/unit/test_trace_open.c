/* test_trace_open.c: the contents of an open trace, and why a file is rejected.
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
#include <sys/stat.h>
#include <unistd.h>

#include "block.h"
#include "trace_sample.h"

static struct ml_buf sample;

static int make_sample(void **state)
{
    (void)state;
    return ml_sample_make(NULL, &sample);
}

static int free_sample(void **state)
{
    (void)state;
    ml_buf_release(&sample);
    return 0;
}

static struct ml_trace *open_sample(void)
{
    struct ml_error err = {0};
    struct ml_trace *t = NULL;

    if (ml_bytes_open(sample.data, sample.len, false, &t, &err))
        fail_msg("%s", err.text);
    return t;
}

static void info_is_right(void **state)
{
    struct ml_trace *t = open_sample();
    const struct ml_trace_info *info = ml_trace_info(t);

    (void)state;
    assert_int_equal(info->start_wall_ns, ML_SAMPLE_WALL_NS);
    assert_int_equal(info->end_ns, (ML_SAMPLE_EVENTS - 1) * ML_SAMPLE_STEP_NS);
    assert_int_equal(info->file_bytes, sample.len);
    assert_int_equal(info->events, ML_SAMPLE_EVENTS);
    assert_int_equal(info->event_blocks, ML_SAMPLE_BLOCKS);
    assert_true(info->event_bytes > ML_SAMPLE_BLOCKS * ML_BLOCK_HEADER_BYTES);
    assert_true(info->event_bytes < sample.len);
    assert_true(info->has_index);
    assert_int_equal(info->ignored_bytes, 0);
    assert_int_equal(info->damaged_blocks, 0);
    ml_trace_free(t);
}

static void definitions_are_found(void **state)
{
    struct ml_trace *t = open_sample();
    uint32_t len;

    (void)state;
    assert_int_equal(ml_trace_processes(t), 2);
    assert_int_equal(ml_trace_process(t, 0)->parent, -1);
    assert_int_equal(ml_trace_process(t, 1)->parent, 0);
    assert_int_equal(ml_trace_process(t, 1)->pid, 4712);
    assert_string_equal(ml_trace_string(t, ml_trace_process(t, 0)->command, NULL),
                        "python train.py");
    assert_int_equal(ml_trace_threads(t), 2);
    assert_int_equal(ml_trace_thread(t, 1)->tid, 4712);
    assert_memory_equal(ml_trace_string(t, ml_trace_thread(t, 1)->name, &len), "a\0b\xff", 5);
    assert_int_equal(len, 4);
    assert_int_equal(ml_trace_spaces(t), 2);
    assert_int_equal(ml_trace_space(t, 1)->level, 2);
    assert_string_equal(ml_trace_string(t, ml_trace_space(t, 0)->device, NULL), "cuda:0");
    assert_int_equal(ml_trace_objects(t), 2);
    assert_int_equal(ml_trace_object(t, 0)->domain, -1);
    assert_int_equal(ml_trace_object(t, 1)->domain, 0);
    ml_trace_free(t);
}

static void scopes_know_their_depth(void **state)
{
    struct ml_trace *t = open_sample();

    (void)state;
    assert_int_equal(ml_trace_scopes(t), ML_SAMPLE_BLOCKS + 1);
    for (uint32_t i = 0; i <= ML_SAMPLE_BLOCKS; i++) {
        assert_int_equal(ml_trace_scope(t, i)->depth, i);
        assert_int_equal(ml_trace_scope(t, i)->parent, i ? i - 1 : 0);
        assert_string_equal(ml_trace_string(t, ml_trace_scope(t, i)->class_name, NULL),
                            i > 1 ? "Layer" : "");
    }
    assert_string_equal(ml_trace_string(t, ml_trace_scope(t, 0)->name, NULL), "");
    ml_trace_free(t);
}

static void settings_are_found(void **state)
{
    struct ml_trace *t = open_sample();

    (void)state;
    assert_int_equal(ml_trace_configs(t), 3);
    assert_string_equal(ml_trace_setting(t, "version"), "1.2.3");
    assert_string_equal(ml_trace_setting(t, "host"), "second");
    assert_null(ml_trace_setting(t, "none"));
    ml_trace_free(t);
}

static void unknown_numbers_give_placeholders(void **state)
{
    struct ml_trace *t = open_sample();
    uint32_t len;

    (void)state;
    assert_string_equal(ml_trace_string(t, ml_trace_strings(t), &len), "?");
    assert_int_equal(len, 1);
    assert_string_equal(ml_trace_string(t, UINT32_MAX, NULL), "?");
    assert_int_equal(ml_trace_process(t, 2)->parent, -1);
    assert_int_equal(ml_trace_thread(t, UINT32_MAX)->tid, 0);
    assert_int_equal(ml_trace_space(t, 2)->level, 0);
    assert_int_equal(ml_trace_scope(t, UINT32_MAX)->depth, 0);
    assert_int_equal(ml_trace_object(t, 2)->domain, -1);
    assert_int_equal(ml_trace_config(t, 3)->key, 0);
    assert_int_equal(ml_trace_library(t, 2)->end, 0);
    assert_int_equal(ml_trace_frame(t, UINT32_MAX)->library, -1);
    assert_int_equal(ml_trace_stack(t, UINT32_MAX)->depth, 0);
    assert_int_equal(ml_trace_frame(t, ml_trace_stack(t, 0)->frame)->kind, 0);
    ml_trace_free(t);
}

static void stacks_are_found(void **state)
{
    struct ml_trace *t = open_sample();
    const struct ml_stack *s = ml_trace_stack(t, 2);
    const struct ml_frame *f = ml_trace_frame(t, s->frame);

    (void)state;
    assert_int_equal(ml_trace_libraries(t), 2);
    assert_int_equal(ml_trace_frames(t), 4);
    assert_int_equal(ml_trace_stacks(t), 5);
    assert_int_equal(s->caller, 1);
    assert_int_equal(s->depth, 2);
    assert_int_equal(f->address, 0x77);
    assert_string_equal(ml_trace_string(t, f->function, NULL), "cublasCreate_v2");
    assert_string_equal(ml_trace_string(t, ml_trace_library(t, (uint32_t)f->library)->path, NULL),
                        "/lib/libcublas.so");
    f = ml_trace_frame(t, ml_trace_stack(t, 3)->frame);
    assert_true(f->library == -1 && f->address == 0x7fffffff1000 && !f->function);
    f = ml_trace_frame(t, ml_trace_stack(t, 4)->frame);
    assert_string_equal(ml_trace_string(t, f->file, NULL), "model.py");
    assert_true(f->kind == ML_FRAME_PYTHON && f->library == -1 && f->line == 42);
    ml_trace_free(t);
}

static void expect_refused(const void *bytes, size_t len, bool salvage, int code, const char *words)
{
    struct ml_trace *t = NULL;
    struct ml_error err = {0};

    assert_int_equal(ml_bytes_open(bytes, len, salvage, &t, &err), code);
    assert_null(t);
    assert_int_equal(err.code, code);
    assert_non_null(strstr(err.text, "sample.mled: "));
    if (!strstr(err.text, words))
        fail_msg("\"%s\" does not say \"%s\"", err.text, words);
}

static void foreign_files_are_refused(void **state)
{
    static const char text[] = "This is a text of more than a line, and no trace at all; really.\n";
    static const char script[] =
        "#!/bin/sh\necho this is a shell script and no trace at all; really\n";

    (void)state;
    expect_refused("", 0, false, -ENODATA, "is empty");
    expect_refused("x", 1, false, -EINVAL, "not a memledger trace");
    expect_refused(text, sizeof(text), false, -EINVAL, "not a memledger trace");
    expect_refused(text, sizeof(text), true, -EINVAL, "not a memledger trace");
    expect_refused(script, sizeof(script), false, -EINVAL, "is a program, not a trace");
    expect_refused(script, sizeof(script), true, -EINVAL, "is a program, not a trace");
    expect_refused(sample.data, ML_FILE_HEADER_BYTES - 1, false, -ENODATA, "ends at byte 63");
}

static void other_versions_are_refused(void **state)
{
    uint8_t bytes[ML_FILE_HEADER_BYTES];

    (void)state;
    ml_file_header_put(bytes, &(struct ml_file_header){.major = 2, .minor = 5});
    expect_refused(bytes, sizeof(bytes), false, -EPROTONOSUPPORT, "format 2.5, newer than 1");
    expect_refused(bytes, sizeof(bytes), true, -EPROTONOSUPPORT, "update memledger");
    ml_file_header_put(bytes, &(struct ml_file_header){.major = 0, .minor = 1});
    expect_refused(bytes, sizeof(bytes), false, -EPROTONOSUPPORT, "format 0.1, older than 1");
    ml_file_header_put(bytes, &(struct ml_file_header){.major = 1, .features = 0x10});
    expect_refused(bytes, sizeof(bytes), false, -EPROTONOSUPPORT, "bits 0x10");
}

static void later_minor_version_is_read(void **state)
{
    struct ml_trace *t = NULL;

    (void)state;
    ml_file_header_put(sample.data, &(struct ml_file_header){.major = 1, .minor = 9});
    assert_int_equal(ml_bytes_open(sample.data, sample.len, false, &t, NULL), 0);
    assert_int_equal(ml_trace_info(t)->events, ML_SAMPLE_EVENTS);
    ml_trace_free(t);
}

static void expect_path_refused(const char *path, int code, const char *words)
{
    struct ml_trace *t = NULL;
    struct ml_error err = {0};

    assert_int_equal(ml_trace_open(path, NULL, &t, &err), code);
    assert_non_null(strstr(err.text, path));
    if (!strstr(err.text, words))
        fail_msg("\"%s\" does not say \"%s\"", err.text, words);
}

static void paths_that_are_no_files_are_refused(void **state)
{
    char dir[] = "/tmp/ml-trace-XXXXXX", fifo[64];

    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(fifo, sizeof(fifo), "%s/fifo", dir);
    expect_path_refused(fifo, -ENOENT, "No such file");
    assert_int_equal(mkfifo(fifo, 0600), 0);
    expect_path_refused(fifo, -ESPIPE, "not a regular file");
    expect_path_refused(dir, -EISDIR, "is a directory");
    unlink(fifo);
    rmdir(dir);
}

static void file_is_read_from_disk(void **state)
{
    char path[] = "/tmp/ml-trace-XXXXXX";
    int fd = mkstemp(path);
    struct ml_trace *t = NULL;

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(write(fd, sample.data, sample.len), (ssize_t)sample.len);
    assert_int_equal(ml_trace_open(path, NULL, &t, NULL), 0);
    assert_int_equal(ml_trace_info(t)->events, ML_SAMPLE_EVENTS);
    ml_trace_free(t);
    close(fd);
    unlink(path);
}

static void file_without_blocks_is_an_empty_trace(void **state)
{
    struct ml_trace *t = NULL;

    (void)state;
    assert_int_equal(ml_bytes_open(sample.data, ML_FILE_HEADER_BYTES, false, &t, NULL), 0);
    assert_int_equal(ml_trace_info(t)->events, 0);
    assert_false(ml_trace_info(t)->has_index);
    assert_int_equal(ml_trace_strings(t), 1);
    ml_trace_free(t);
    ml_trace_free(NULL);
    ml_cursor_free(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_sample, free_sample)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(info_is_right),
        TEST(definitions_are_found),
        TEST(scopes_know_their_depth),
        TEST(settings_are_found),
        TEST(stacks_are_found),
        TEST(unknown_numbers_give_placeholders),
        TEST(foreign_files_are_refused),
        TEST(other_versions_are_refused),
        TEST(later_minor_version_is_read),
        TEST(paths_that_are_no_files_are_refused),
        TEST(file_is_read_from_disk),
        TEST(file_without_blocks_is_an_empty_trace),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
