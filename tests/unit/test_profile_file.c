/* test_profile_file.c: the Chrome trace file stays valid JSON, whatever fails.
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
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "handed_check.h"
#include "memledger/memledger.h"
#include "profile_file.h"
#include "profile_fixture.h"
#include "ring.h"

/* The whole file, byte by byte, in MXNet's layout. */
static void the_layout(void **state)
{
    struct fixture *f = *state;
    struct ml_profile_file file;

    ml_profile_file_init(&file);
    assert_int_equal(
        ml_profile_file_take(&file, open(f->path, O_WRONLY | O_CREAT, 0600), 0, f->path), 0);
    ml_profile_file_put_process(&file, "\"dom\"", 123);
    ml_profile_file_put(&file, &(struct ml_profile_record){.name = "\"ctr\"",
                                                           .category = "\"dom\"",
                                                           .phase = 'C',
                                                           .time_us = 1700000000000000,
                                                           .pid = 123,
                                                           .tid = 456,
                                                           .extra = ML_EXTRA_VALUE,
                                                           .value = 5});
    assert_int_equal(ml_profile_file_flush(&file, NULL), 0);
    ml_profile_file_release(&file);
    assert_string_equal(fixture_read(f), "{\n"
                                         "    \"traceEvents\": [\n"
                                         "        {\n"
                                         "            \"ph\": \"M\",\n"
                                         "            \"args\": {\n"
                                         "                \"name\": \"cpu/0\"\n"
                                         "            },\n"
                                         "            \"pid\": 0,\n"
                                         "            \"name\": \"process_name\"\n"
                                         "        }\n"
                                         ",\n"
                                         "        {\n"
                                         "            \"ph\": \"M\",\n"
                                         "            \"args\": {\n"
                                         "                \"name\": \"dom\"\n"
                                         "            },\n"
                                         "            \"pid\": 123,\n"
                                         "            \"name\": \"process_name\"\n"
                                         "        }\n"
                                         ",\n"
                                         "    {\n"
                                         "        \"name\": \"ctr\",\n"
                                         "        \"cat\": \"dom\",\n"
                                         "        \"ph\": \"C\",\n"
                                         "        \"ts\": 1700000000000000,\n"
                                         "        \"args\": { \"ctr\": 5 },\n"
                                         "        \"pid\": 123,\n"
                                         "        \"tid\": 456\n"
                                         "    }\n"
                                         "\n"
                                         "    ],\n"
                                         "    \"displayTimeUnit\": \"ms\"\n"
                                         "}\n");
}

static void dump_before_any_run_is_an_error(void **state)
{
    struct fixture *f = *state;
    struct ml_error err = {0};

    assert_int_equal(ml_profile_dump(f->profile, true, &err), -ESRCH);
    assert_has(err.text, "has not been run");
    assert_int_equal(access(f->path, F_OK), -1);
}

static void a_profile_of_nothing_is_valid(void **state)
{
    struct fixture *f = *state;

    fixture_run(f);
    assert_has(fixture_dump(f, false), "\"cpu/0\"");
    fixture_dump(f, true);
}

static void every_dump_leaves_valid_json(void **state)
{
    struct fixture *f = *state;
    uint32_t counter = fixture_object(f, MEMLEDGER_COUNTER, "ctr");

    fixture_run(f);
    for (int i = 1; i <= 20; i++) {
        fixture_count(f, counter, i);
        assert_int_equal(count_of(fixture_dump(f, false), "\"ph\": \"C\""), i);
    }
    assert_int_equal(count_of(fixture_dump(f, true), "\"ph\": \"C\""), 20);
    /* Finished: what comes is not recorded, and further dumps change nothing. */
    fixture_count(f, counter, 21);
    assert_int_equal(count_of(fixture_dump(f, true), "\"ph\": \"C\""), 20);
    /* A new run makes a new file. */
    fixture_run(f);
    fixture_count(f, counter, 22);
    assert_int_equal(count_of(fixture_dump(f, true), "\"ph\": \"C\""), 1);
    assert_has(f->text, "\"name\": \"dom\"\n");
}

static void dumps_without_continuation_are_whole_files(void **state)
{
    struct fixture *f = *state;
    uint32_t counter = fixture_object(f, MEMLEDGER_COUNTER, "ctr");

    ml_profile_set_config(f->profile, "continuous_dump", "false");
    for (int i = 0; i < 3; i++) {
        fixture_run(f);
        fixture_count(f, counter, 10 * i);
        fixture_count(f, counter, 10 * i + 1);
        fixture_dump(f, false);
        assert_int_equal(count_of(f->text, "\"ph\": \"C\""), 2);
        assert_int_equal(count_of(f->text, "\"name\": \"dom\"\n"), 1);
        fixture_count(f, counter, 10 * i + 2); /* until the next run: dropped */
        fixture_dump(f, false);
        assert_int_equal(count_of(f->text, "\"ph\": \"C\""), 2);
    }
}

static void the_period_writes_by_itself(void **state)
{
    struct fixture *f = *state;
    uint32_t counter = fixture_object(f, MEMLEDGER_COUNTER, "ctr");

    ml_profile_set_config(f->profile, "dump_period", "0.5");
    fixture_run(f);
    fixture_count(f, counter, 1);
    ml_profile_tick(f->profile, 499999999);
    assert_int_equal(count_of(fixture_read(f), "\"ph\": \"C\""), 0);
    ml_profile_tick(f->profile, 500000000);
    assert_int_equal(count_of(fixture_read(f), "\"ph\": \"C\""), 1);
    fixture_count(f, counter, 2);
    ml_profile_tick(f->profile, 999999999);
    assert_int_equal(count_of(fixture_read(f), "\"ph\": \"C\""), 1);
    ml_profile_tick(f->profile, 1000000000);
    assert_int_equal(count_of(fixture_read(f), "\"ph\": \"C\""), 2);
}

static void without_continuation_nothing_writes_by_itself(void **state)
{
    struct fixture *f = *state;

    ml_profile_set_config(f->profile, "continuous_dump", "false");
    fixture_run(f);
    fixture_count(f, fixture_object(f, MEMLEDGER_COUNTER, "ctr"), 1);
    ml_profile_tick(f->profile, 5000000000);
    assert_int_equal(count_of(fixture_read(f), "\"ph\": \"C\""), 0);
}

static void the_end_of_the_process_ends_the_file(void **state)
{
    struct fixture *f = *state;

    fixture_run(f);
    fixture_count(f, fixture_object(f, MEMLEDGER_COUNTER, "ctr"), 7);
    ml_profile_set_state(f->profile, ML_PROFILE_STOP, f->now_ns);
    ml_profile_free(f->profile);
    f->profile = NULL;
    assert_has(fixture_read(f), "{ \"ctr\": 7 }");
}

static void a_large_profile_is_written_in_pieces(void **state)
{
    struct fixture *f = *state;
    uint32_t counter = fixture_object(f, MEMLEDGER_COUNTER, "ctr");

    fixture_run(f);
    for (int i = 0; i < 20000; i++)
        fixture_count(f, counter, i);
    assert_true(strlen(fixture_read(f)) > 1 << 20);
    assert_int_equal(count_of(fixture_dump(f, true), "\"ph\": \"C\""), 20000);
}

static void another_name_starts_another_file(void **state)
{
    struct fixture *f = *state;
    uint32_t counter = fixture_object(f, MEMLEDGER_COUNTER, "ctr");
    char other[128];

    fixture_run(f);
    fixture_count(f, counter, 1);
    snprintf(other, sizeof(other), "%s/other.json", f->folder);
    ml_profile_set_config(f->profile, "filename", other);
    fixture_give_to(f->profile, other);
    assert_has(fixture_read(f), "{ \"ctr\": 1 }");
    fixture_count(f, counter, 2);
    unlink(f->path);
    strcpy(f->path, other);
    assert_has(fixture_dump(f, true), "{ \"ctr\": 2 }");
    assert_int_equal(count_of(f->text, "\"name\": \"dom\"\n"), 1);
}

/* ---- Failures ----------------------------------------------------------- */

static void an_unwritable_place_is_named(void **state)
{
    struct fixture *f = *state;
    struct ml_error err = {0};

    ml_profile_set_config(f->profile, "filename", "no-such-folder/p.json");
    fixture_give_to(f->profile, "no-such-folder/p.json");
    ml_profile_set_state(f->profile, ML_PROFILE_RUN, f->now_ns);
    assert_int_equal(ml_profile_dump(f->profile, true, &err), -ENOENT);
    assert_has(err.text, "no-such-folder/p.json: cannot be created: No such file");
    ml_profile_set_config(f->profile, "filename", "profile.json");
    assert_int_equal(ml_profile_dump(f->profile, true, &err), -EBADF);
    assert_has(err.text, "the profile has no file");
    fixture_give_to(f->profile, f->path);
    fixture_dump(f, true);
}

static void what_was_there_stays_until_the_first_dump(void **state)
{
    struct fixture *f = *state;

    fixture_run(f);
    fixture_count(f, fixture_object(f, MEMLEDGER_COUNTER, "ctr"), 7);
    fixture_dump(f, true);
    fixture_run(f);
    assert_has(fixture_read(f), "{ \"ctr\": 7 }");
    assert_int_equal(count_of(fixture_dump(f, true), "\"ph\": \"C\""), 0);
}

/* What a program hands over need not be what the recorder opens. */
static void assert_refused(struct fixture *f, int fd, int code)
{
    struct ml_error err = {0};

    assert_true(fd >= 0);
    ml_profile_set_config(f->profile, "filename", "before");
    ml_profile_set_config(f->profile, "filename", f->path);
    ml_profile_give_file(f->profile, fd, 0, f->path);
    assert_int_equal(ml_profile_dump(f->profile, false, &err), code);
    assert_has(err.text, f->path);
    assert_int_equal(fcntl(fd, F_GETFD), -1); /* closed */
}

static void what_must_not_be_written_to_is_refused(void **state)
{
    struct fixture *f = *state;
    struct stat st;
    int made = open(f->path, O_WRONLY | O_CREAT, 0600);

    assert_true(made >= 0);
    ml_profile_set_state(f->profile, ML_PROFILE_RUN, f->now_ns);
    assert_refused(f, open(f->path, O_RDONLY), -EBADF);
    assert_refused(f, open(f->path, O_WRONLY | O_APPEND), -EBADF);
    assert_refused(f, open(f->path, O_PATH), -EBADF);
    assert_refused(f, open(f->folder, O_RDONLY | O_DIRECTORY), -EINVAL);
    assert_refused(f, open("/dev/null", O_WRONLY), -EINVAL);
    assert_refused(f, open("/proc/self/comm", O_WRONLY), -EINVAL);
    assert_int_equal(fchmod(made, 04600), 0);
    assert_refused(f, open(f->path, O_WRONLY), -EPERM);
    assert_int_equal(fstat(made, &st), 0);
    assert_int_equal(st.st_size, 0);
    close(made);
}

/* In a separate mount namespace. No process serves the file system: every access waits forever.
 * @return what the check said, 0: it cannot be tried here */
static int check_on_fuse(const char *folder)
{
    int device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    char options[64];

    snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", device);
    if (device < 0 || unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("nobody", folder, "fuse", MS_NOSUID | MS_NODEV, options))
        return 0;
    alarm(20); /* in case that it asks */
    return -ml_handed_check(open(folder, O_PATH | O_CLOEXEC), folder, NULL);
}

static void a_fuse_file_system_is_refused(void **state)
{
    struct fixture *f = *state;
    pid_t child = fork();
    int status;

    if (child == 0)
        _exit(check_on_fuse(f->folder));
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!status) {
        print_message("skipped: no FUSE file system can be mounted here, which takes privileges\n");
        skip();
    }
    assert_int_equal(status, EOPNOTSUPP << 8);
}

static void mount_types_are_known(void **state)
{
    int fd = open("/proc/self/comm", O_RDONLY);
    char type[ML_MOUNT_TYPE_ROOM];

    (void)state;
    assert_true(ml_mount_type(fd, type));
    assert_string_equal(type, "proc");
    close(fd);
    assert_false(ml_mount_type(fd, type));
}

/* The number of an error comes from the target's memory. */
static void any_error_number_is_a_refusal(void **state)
{
    static const int numbers[] = {INT_MIN, -1, 0, ENOENT, 4096, INT_MAX};
    struct fixture *f = *state;

    for (size_t i = 0; i < ML_ARRAY_SIZE(numbers); i++) {
        struct ml_profile_file file;

        ml_profile_file_init(&file);
        assert_int_equal(ml_profile_file_take(&file, -1, numbers[i], f->path),
                         numbers[i] == ENOENT ? -ENOENT : -EBADF);
        ml_profile_file_release(&file);
    }
}

static void a_pipe_is_refused(void **state)
{
    struct fixture *f = *state;
    struct ml_error err = {0};

    assert_int_equal(mkfifo(f->path, 0600), 0);
    fixture_run(f);
    assert_true(ml_profile_dump(f->profile, true, &err) < 0);
    ml_profile_set_config(f->profile, "filename", "/dev/null");
    fixture_give_to(f->profile, "/dev/null");
    assert_int_equal(ml_profile_dump(f->profile, true, &err), -EINVAL);
    assert_has(err.text, "/dev/null: is not a regular file");
}

static void two_profiles_do_not_share_a_file(void **state)
{
    struct fixture *f = *state;
    struct ml_profile *other;
    struct ml_error err = {0};

    assert_int_equal(ml_profile_new(&f->dict, WALL_NS, &other), 0);
    fixture_run(f);
    fixture_count(f, fixture_object(f, MEMLEDGER_COUNTER, "ctr"), 7);
    fixture_dump(f, false);
    fixture_give_to(other, f->path);
    ml_profile_set_state(other, ML_PROFILE_RUN, 0);
    assert_int_equal(ml_profile_dump(other, true, &err), -EBUSY);
    assert_has(err.text, "another process writes its profile there");
    assert_has(fixture_read(f), "{ \"ctr\": 7 }");
    fixture_dump(f, true);
    assert_int_equal(ml_profile_dump(other, true, &err), 0);
    ml_profile_free(other);
}

/* A limit on the file's size fails like a full disk, after some of the bytes. */
static void limit_file_size(rlim_t bytes)
{
    struct rlimit limit;

    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void a_full_disk_leaves_valid_json(void **state)
{
    struct fixture *f = *state;
    uint32_t counter = fixture_object(f, MEMLEDGER_COUNTER, "ctr");
    struct ml_error err = {0};

    fixture_run(f);
    fixture_count(f, counter, 1);
    fixture_dump(f, false);
    limit_file_size(1500);
    for (int i = 2; i <= 10; i++)
        fixture_count(f, counter, i);
    assert_int_equal(ml_profile_dump(f->profile, true, &err), -EFBIG);
    assert_has(err.text, "profile.json: cannot be written: File too large");
    assert_int_equal(count_of(fixture_read(f), "\"ph\": \"C\""), 1);
    limit_file_size(RLIM_INFINITY);
    /* Nothing was lost: it fits now. */
    assert_int_equal(count_of(fixture_dump(f, true), "\"ph\": \"C\""), 10);
}

static void what_is_lost_is_told_once(void **state)
{
    struct fixture *f = *state;
    uint32_t counter = fixture_object(f, MEMLEDGER_COUNTER, "ctr");
    struct ml_error err = {0};

    fixture_run(f);
    fixture_dump(f, false);
    limit_file_size(1500);
    for (int i = 0; i < 20000; i++)
        fixture_count(f, counter, i);
    limit_file_size(RLIM_INFINITY);
    assert_int_equal(ml_profile_dump(f->profile, false, &err), -EFBIG);
    assert_has(err.text, "records are missing: File too large");
    assert_has(fixture_dump(f, true), "{ \"ctr\": 19999 }");
    /* The category's name was among what was lost, and is given again. */
    assert_int_equal(count_of(f->text, "\"name\": \"dom\"\n"), 1);
}

#define test(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(the_layout),
        test(dump_before_any_run_is_an_error),
        test(a_profile_of_nothing_is_valid),
        test(every_dump_leaves_valid_json),
        test(dumps_without_continuation_are_whole_files),
        test(the_period_writes_by_itself),
        test(without_continuation_nothing_writes_by_itself),
        test(the_end_of_the_process_ends_the_file),
        test(a_large_profile_is_written_in_pieces),
        test(another_name_starts_another_file),
        test(an_unwritable_place_is_named),
        test(what_was_there_stays_until_the_first_dump),
        test(what_must_not_be_written_to_is_refused),
        test(a_fuse_file_system_is_refused),
        test(mount_types_are_known),
        test(any_error_number_is_a_refusal),
        test(a_pipe_is_refused),
        test(two_profiles_do_not_share_a_file),
        test(a_full_disk_leaves_valid_json),
        test(what_is_lost_is_told_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
