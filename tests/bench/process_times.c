/* process_times.c: preloaded into a measured program, writes down when the program began and ended
 * and the CPU time of each of its processes.
 *
 * A recorder's other processes (a launcher, a collector, a reader of symbols) are not the program:
 * only processes named PROCESS_TIMES_OF count. Each adds one line to the file PROCESS_TIMES as it
 * exits; its CPU time includes the recorder's part inside it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static char *file; /* NULL: not the program */
static long long begin_ns;
static pid_t first; /* the process that forked the others, if there are others */

static long long now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static long long ns_of(struct timeval t)
{
    return t.tv_sec * 1000000000LL + t.tv_usec * 1000LL;
}

__attribute__((constructor)) static void begin(void)
{
    const char *name = getenv("PROCESS_TIMES_OF"), *path = getenv("PROCESS_TIMES");

    if (!name || !path || strcmp(name, program_invocation_short_name) != 0)
        return;
    file = strdup(path); /* servers write their status over the environment */
    begin_ns = now_ns();
    first = getpid();
}

__attribute__((destructor)) static void end(void)
{
    struct rusage usage;
    char line[200];
    int fd, len;

    if (!file || getrusage(RUSAGE_SELF, &usage) < 0)
        return;
    len = snprintf(line, sizeof(line), "%d %lld %lld %lld\n", getpid() == first, begin_ns, now_ns(),
                   ns_of(usage.ru_utime) + ns_of(usage.ru_stime));
    fd = open(file, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (fd < 0)
        return;
    if (write(fd, line, (size_t)len) != len)
        perror(file);
    close(fd);
}
