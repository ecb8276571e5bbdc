/* collector_process.c: see collector_process.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "collector_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

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

/* Keys pressed on the terminal are for the program, and a pipe that somebody
 * reads until its end shall end with the program. */
static void leave_terminal(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    setpgid(0, 0);
    signal(SIGHUP, SIG_IGN);
    for (int fd = 0; null >= 0 && fd <= 2; fd++)
        dup2(null, fd);
}

/* Each process that is recorded takes descriptors. */
static void raise_descriptor_limit(void)
{
    struct rlimit limit;

    if (!getrlimit(RLIMIT_NOFILE, &limit)) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* Where we may, which without privileges we may not: the sooner the rings are empty, the less
 * their threads wait. Threads that are started later have the same. */
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
    /* The launcher has gone: nobody else cleans up. */
    if (getppid() != launcher)
        ml_session_dir_release(session);
    _exit(r ? 1 : 0);
}
