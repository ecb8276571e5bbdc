/* collector_process.c: see collector_process.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "collector_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io.h"
#include "vec.h"

#define NICE_ABOVE_PROGRAM 5

char *ml_joined_words(char **argv)
{
    struct ml_buf text;

    ml_buf_init(&text);
    for (int i = 0; argv[i]; i++)
        ml_buf_printf(&text, "%s%s", i ? " " : "", argv[i]);
    return (char *)text.data;
}

/* Signals of the terminal are for the program, and a pipe that is read until its end must
 * end with the program. */
static void leave_terminal(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    setpgid(0, 0);
    signal(SIGHUP, SIG_IGN);
    for (int fd = 0; null >= 0 && fd <= 2; fd++)
        dup2(null, fd);
}

/* Each recorded process needs descriptors. */
static void raise_descriptor_limit(void)
{
    struct rlimit limit;

    if (!getrlimit(RLIMIT_NOFILE, &limit)) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* Needs privileges. The sooner the rings are empty, the less their threads wait. Later
 * threads inherit it. */
static void raise_priority(void)
{
    int nice_value = getpriority(PRIO_PROCESS, 0);

    setpriority(PRIO_PROCESS, 0, nice_value - NICE_ABOVE_PROGRAM);
}

noreturn void ml_be_collector(struct ml_collector *collector, struct ml_session_dir *session,
                              pid_t launcher)
{
    int r;

    leave_terminal();
    raise_descriptor_limit();
    raise_priority();
    r = ml_collector_run(collector);
    /* The launcher is gone, so the collector cleans up. */
    if (getppid() != launcher)
        ml_session_dir_release(session);
    _exit(r ? 1 : 0);
}

/* ---- Beside a program ----------------------------------------------------- */

#define LOOK_MS 50
#define GRACE_MS 1000 /* after an interruption */
#define OPEN_MS 60000 /* the longest wait for a file system that hangs */

/* Does not return. */
static void open_and_collect(const struct ml_collector_opts *opts, struct ml_session_dir *session,
                             const struct ml_ticks *ticks, int answer)
{
    struct ml_error failure = {0}; /* code 0: it is open */
    struct ml_collector *collector = NULL;
    int r = ml_collector_new(opts, session, ticks, &collector, &failure);

    if (!r)
        ml_collector_sign(collector);
    if (ml_write_all(answer, &failure, sizeof(failure))) { /* the launcher is gone */
        if (!r)
            ml_collector_discard(collector);
        ml_session_dir_release(session);
        r = -EPIPE;
    }
    if (r)
        _exit(1);
    close(answer);
    ml_be_collector(collector, session, opts->launcher);
}

/* @return 0, -EINTR, -ETIMEDOUT, or the child's error */
static int wait_until_open(const struct ml_launch *l, int answer, struct ml_error *err)
{
    struct pollfd readable = {.fd = answer, .events = POLLIN};
    struct ml_error failure;

    for (int waited_ms = 0; poll(&readable, 1, LOOK_MS) == 0; waited_ms += LOOK_MS) {
        if (ml_launch_asked(l))
            return ml_error_set(err, -EINTR, "interrupted before the trace was open");
        if (waited_ms >= OPEN_MS)
            return ml_error_set(err, -ETIMEDOUT,
                                "the trace is not open after a minute: its disk hangs; choose "
                                "another with -o");
    }
    if (read(answer, &failure, sizeof(failure)) != sizeof(failure))
        return ml_error_set(err, -ECHILD, "the collector ended before the trace was open");
    if (failure.code)
        *err = failure;
    return failure.code;
}

/* It removes a file that it has created. A file system that hangs may prevent that, and even
 * delay SIGKILL. */
static void end_before_start(pid_t pid, struct ml_session_dir *session)
{
    atomic_store(&session->page->finish, 1);
    for (int waited_ms = 0; waited_ms < GRACE_MS; waited_ms += LOOK_MS) {
        if (waitpid(pid, NULL, WNOHANG))
            return;
        poll(NULL, 0, LOOK_MS);
    }
    kill(pid, SIGKILL);
}

int ml_collector_start(const struct ml_collector_opts *opts, struct ml_session_dir *session,
                       const struct ml_ticks *ticks, struct ml_launch *l, pid_t *ret_pid,
                       struct ml_error *err)
{
    int answer[2];
    pid_t pid;
    int r;

    if (pipe2(answer, O_CLOEXEC))
        return ml_error_set(err, -errno, "cannot make a pipe: %s", strerror(errno));
    pid = fork();
    if (pid == 0) {
        close(l->go);
        close(l->failure);
        close(answer[0]);
        open_and_collect(opts, session, ticks, answer[1]);
    }
    r = pid < 0 ? ml_error_set(err, -errno, "cannot start the collector: %s", strerror(errno)) : 0;
    close(answer[1]);
    if (!r)
        r = wait_until_open(l, answer[0], err);
    close(answer[0]);
    if (r == -EINTR || r == -ETIMEDOUT)
        end_before_start(pid, session);
    else if (r && pid > 0)
        waitpid(pid, NULL, 0);
    if (!r)
        *ret_pid = pid;
    return r;
}
