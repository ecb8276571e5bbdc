/* test_handed_files.c: messages over connections that any process can open.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdalign.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "handed_files.h"

#define KEY UINT64_C(0x123456789abcdef)

struct meeting {
    int listeners[2];
    struct sockaddr_un at;
    socklen_t at_bytes;
    struct ml_handed_files handed;
};

/* The kernel chooses the name. */
static int meet(void **state)
{
    static struct meeting m;

    m = (struct meeting){.listeners = {-1, -1}, .at_bytes = sizeof(m.at)};
    m.at.sun_family = AF_UNIX;
    for (int i = 0; i < 2; i++) {
        m.listeners[i] = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        assert_int_equal(bind(m.listeners[i], (struct sockaddr *)&m.at, sizeof(sa_family_t)), 0);
        assert_int_equal(listen(m.listeners[i], 8), 0);
    }
    assert_int_equal(getsockname(m.listeners[0], (struct sockaddr *)&m.at, &m.at_bytes), 0);
    ml_handed_init(&m.handed, m.listeners);
    *state = &m;
    return 0;
}

static int part(void **state)
{
    struct meeting *m = *state;

    ml_handed_release(&m->handed);
    close(m->listeners[0]);
    close(m->listeners[1]);
    return 0;
}

static int connect_to(const struct meeting *m)
{
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    assert_int_equal(connect(fd, (const struct sockaddr *)&m->at, m->at_bytes), 0);
    return fd;
}

static void say(int fd, const void *body, size_t bytes)
{
    struct iovec part = {(void *)(uintptr_t)body, bytes};
    alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {0};
    struct msghdr msg = {.msg_iov = &part,
                         .msg_iovlen = 1,
                         .msg_control = control,
                         .msg_controllen = sizeof(control)};
    struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
    int passed = open("/dev/null", O_RDONLY | O_CLOEXEC);

    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(c), &passed, sizeof(int));
    assert_int_equal(sendmsg(fd, &msg, 0), bytes);
    close(passed);
    close(fd);
}

static void say_hello(const struct meeting *m, uint64_t key, uint32_t set)
{
    struct ml_hello hello = {
        .magic = ML_SHARED_MAGIC, .version = ML_SHARED_VERSION, .key = key, .set = set};

    say(connect_to(m), &hello, sizeof(hello));
}

static bool nobody_is_target(void *ctx, uint32_t pid)
{
    (void)ctx;
    (void)pid;
    return false;
}

static void hellos_come_in_order(void **state)
{
    struct meeting *m = *state;
    struct ml_hello hello;
    uint32_t pid;
    int fd;

    say_hello(m, KEY, 1);
    say_hello(m, KEY, 2);
    ml_handed_receive(&m->handed);
    for (uint32_t set = 1; set <= 2; set++) {
        assert_true(ml_handed_take_hello(&m->handed, KEY, &hello, &pid, &fd));
        assert_int_equal(hello.set, set);
        assert_int_equal(pid, getpid());
        assert_int_equal(close(fd), 0);
    }
    assert_false(ml_handed_take_hello(&m->handed, KEY, &hello, &pid, &fd));
}

static void strangers_do_not_know_the_key(void **state)
{
    struct meeting *m = *state;
    struct ml_hello hello;
    uint32_t pid;
    int fd;

    say_hello(m, KEY + 1, 0);
    ml_handed_receive(&m->handed);
    assert_false(ml_handed_take_hello(&m->handed, KEY, &hello, &pid, &fd));
    ml_handed_keep(&m->handed, nobody_is_target, NULL);
    assert_int_equal(m->handed.all.len, 0);
}

static void a_hello_is_no_file(void **state)
{
    struct meeting *m = *state;

    say_hello(m, KEY, 0);
    ml_handed_receive(&m->handed);
    assert_int_equal(ml_handed_take(&m->handed, (uint32_t)getpid(), 0), -1);
}

static void other_messages_are_dropped(void **state)
{
    struct meeting *m = *state;
    struct ml_hello hello = {.magic = ML_SHARED_MAGIC, .version = ML_SHARED_VERSION + 1};
    char text[] = "hello";

    say(connect_to(m), &hello, sizeof(hello));
    hello.version = ML_SHARED_VERSION;
    say(connect_to(m), &hello, sizeof(hello) - 1);
    say(connect_to(m), text, sizeof(text));
    ml_handed_receive(&m->handed);
    assert_int_equal(m->handed.all.len, 0);
}

/* A forked child says hello first and is a target then. */
static void who_has_just_connected_is_waited_for(void **state)
{
    struct meeting *m = *state;
    struct ml_hello hello = {.magic = ML_SHARED_MAGIC, .version = ML_SHARED_VERSION, .key = KEY};
    uint32_t pid;
    int fd = connect_to(m);

    ml_handed_receive(&m->handed);
    ml_handed_keep(&m->handed, nobody_is_target, NULL);
    say(fd, &hello, sizeof(hello));
    ml_handed_receive(&m->handed);
    assert_true(ml_handed_take_hello(&m->handed, KEY, &hello, &pid, &fd));
    close(fd);
}

static void who_stays_silent_is_dropped(void **state)
{
    struct meeting *m = *state;
    int fd = connect_to(m);

    ml_handed_receive(&m->handed);
    m->handed.all.items[0].since_ns -= UINT64_C(2000000000);
    ml_handed_keep(&m->handed, nobody_is_target, NULL);
    assert_int_equal(m->handed.all.len, 0);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(hellos_come_in_order, meet, part),
        cmocka_unit_test_setup_teardown(strangers_do_not_know_the_key, meet, part),
        cmocka_unit_test_setup_teardown(a_hello_is_no_file, meet, part),
        cmocka_unit_test_setup_teardown(other_messages_are_dropped, meet, part),
        cmocka_unit_test_setup_teardown(who_has_just_connected_is_waited_for, meet, part),
        cmocka_unit_test_setup_teardown(who_stays_silent_is_dropped, meet, part),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
