/* test_analyze_following.c: following a trace: what its processes use by the samples, its growth,
 * its end, and one that cannot be opened.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_analyze_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "file_lock.h"
#include "live_view.h"

static void test_missing_file(void **state)
{
    struct ml_following *f = NULL;
    struct ml_error err = {0};
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(dup2(fd, STDIN_FILENO), STDIN_FILENO);
    assert_int_equal(ml_following_open("no such file", &f, &err), -ENOENT);
    assert_null(f);
    assert_true(fcntl(STDIN_FILENO, F_GETFD) >= 0); /* it closes nothing that is not its own */
    close(fd);
}

static void resident(struct fixture *f, uint64_t process, uint64_t more_bits, uint64_t bytes)
{
    const struct ml_event sample = {
        .kind = ML_SAMPLE,
        .args = {ml_maker_string(f->maker, "cpu"),
                 ML_SAMPLE_BY_PROCESS | more_bits | (1 + process) << ML_SAMPLE_PROCESS_SHIFT, 7, 0,
                 8, bytes}};

    fixture_event(f, sample);
}

/* Closes the maker. The path is that of the fixture's descriptor. */
static struct ml_following *follow(struct fixture *f)
{
    struct ml_following *following = NULL;
    struct ml_error err = {0};
    char path[64];

    assert_int_equal(ml_maker_close(f->maker), 0);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", f->fd);
    if (ml_following_open(path, &following, &err) < 0)
        fail_msg("%s", err.text);
    return following;
}

/* What the processes on the host use, by the samples so far. Ends the fixture. */
static struct ml_live_device followed(struct fixture *f)
{
    const struct ml_live_question totals = {.no_rows = true};
    struct ml_following *following = follow(f);
    struct ml_live_device device;
    struct ml_live_view view;
    struct ml_error err = {0};

    assert_int_equal(ml_live_view(following, &totals, &view, &err), 0);
    assert_int_equal(view.devices.len, 1);
    device = view.devices.items[0];
    ml_live_view_release(&view);
    ml_following_free(following);
    close(f->fd);
    return device;
}

static struct fixture two_processes(void)
{
    struct fixture f = fixture_begin();

    ml_maker_process(f.maker, 101, 0, ml_maker_string(f.maker, "child"));
    fixture_alloc(&f, f.block, 0x1000, 10);
    resident(&f, 0, 0, 300);
    resident(&f, 1, 0, 500);
    return f;
}

static void test_resident(void **state)
{
    struct fixture f = two_processes();
    struct ml_live_device device;

    (void)state;
    resident(&f, 0, ML_SAMPLE_SHARE, 20);
    resident(&f, 1, ML_SAMPLE_ADDRESSES, 600); /* it has a limit on its address space */
    device = followed(&f);
    assert_true(device.ours.known);
    assert_int_equal(device.ours.bytes, 900);
    assert_false(device.used.known);
}

static void test_ended_process(void **state)
{
    struct fixture f = two_processes();
    struct ml_live_device device;

    (void)state;
    fixture_event(&f, (struct ml_event){.kind = ML_PROCESS_END, .args = {1, 0}});
    device = followed(&f);
    assert_true(device.ours.known);
    assert_int_equal(device.ours.bytes, 300);
}

/* Memory that is older than the recording is no growth of its last minute. */
static void test_older_memory(void **state)
{
    const struct ml_event told = {.kind = ML_MARK, .args = {ML_MARK_OLDER, 1}};
    struct fixture f = fixture_begin();

    (void)state;
    resident(&f, 0, 0, 300);
    f.time_ns = UINT64_C(2000000000); /* the attach takes that long */
    fixture_alloc(&f, f.block, 0x1000, 1000);
    f.time_ns = UINT64_C(3000000000);
    fixture_alloc(&f, f.block, 0x2000, 500);
    fixture_event(&f, told);
    f.time_ns = UINT64_C(9000000000);
    fixture_alloc(&f, f.block, 0x3000, 70);
    assert_int_equal(followed(&f).growth_bytes, 70);
}

/* Of a program that frees everything: followed, and gone back to its last memory. */
static struct ml_following *follow_to_end(struct fixture *f, const struct ml_maker_opts *opts)
{
    struct ml_following *following;
    struct ml_error err = {0};

    *f = fixture_with(opts);
    fixture_alloc(f, f->block, 0x1000, 10);
    fixture_free(f, f->block, 0x1000);
    following = follow(f);
    assert_int_equal(ml_following_show_end(following, &err), 0);
    assert_true(following->end.is_shown);
    assert_int_equal(following->replay.bytes.live_bytes, 10);
    assert_int_equal(ml_following_totals(following).frees, 1);
    return following;
}

/* @return a process that writes the file, as others see it */
static pid_t start_writer(int fd)
{
    pid_t writer = fork();

    assert_true(writer >= 0);
    if (writer == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        ml_file_lock_sign(fd);
        for (;;)
            pause();
    }
    while (!ml_file_lock_is_signed(fd))
        usleep(1000);
    return writer;
}

/* The file was opened before its writer had locked it. */
static void test_no_end_yet(void **state)
{
    struct ml_error err = {0};
    struct fixture f;
    struct ml_following *following = follow_to_end(&f, &(struct ml_maker_opts){.no_index = true});
    pid_t writer = start_writer(f.fd);

    (void)state;
    assert_int_equal(ml_following_poll(following, &err), 1);
    assert_false(following->end.is_shown);
    assert_int_equal(following->replay.bytes.live_bytes, 0);
    assert_int_equal(ml_following_totals(following).frees, 1);
    assert_int_equal(ml_following_poll(following, &err), 0);
    kill(writer, SIGKILL);
    assert_int_equal(waitpid(writer, NULL, 0), writer);
    assert_int_equal(ml_following_poll(following, &err), 0);
    assert_int_equal(ml_following_show_end(following, &err), 0);
    assert_true(following->end.is_shown);
    ml_following_free(following);
    close(f.fd);
}

/* The next part of the same recording takes the place of one whose last memory is shown: no counter
 * falls. */
static void test_end_of_a_part(void **state)
{
    struct ml_error err = {0};
    struct fixture f, next = fixture_begin();
    struct ml_following *following = follow_to_end(&f, NULL);

    (void)state;
    fixture_alloc(&next, next.block, 0x1000, 10);
    assert_int_equal(ml_maker_close(next.maker), 0);
    assert_int_equal(dup2(next.fd, f.fd), f.fd);
    assert_int_equal(ml_following_poll(following, &err), 1);
    assert_false(following->end.is_shown);
    assert_int_equal(following->replay.events, 1);
    assert_int_equal(ml_following_totals(following).frees, 1);
    ml_following_free(following);
    close(next.fd);
    close(f.fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_missing_file),  cmocka_unit_test(test_resident),
        cmocka_unit_test(test_ended_process), cmocka_unit_test(test_older_memory),
        cmocka_unit_test(test_no_end_yet),    cmocka_unit_test(test_end_of_a_part),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
