/* digest_workers.c: see digest_workers.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "digest_workers.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "digest_store.h"
#include "memory_limit.h"
#include "progress_line.h"
#include "report_command.h"
#include "say.h"

#define WORKERS_MOST 64

struct worker {
    pid_t pid; /* 0: free */
    size_t work;
};

static size_t count_processors(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof(set), &set) < 0 ? 1 : (size_t)CPU_COUNT(&set);
}

/* In the child. @return its exit code */
static int digest(const struct ml_digest_work *work, bool salvage, uint64_t max_memory_bytes)
{
    struct ml_digest made = {0};
    struct ml_error err = {0};
    int r;

    ml_memory_limit(work->trace, max_memory_bytes);
    r = ml_digest_store_make(work->trace, salvage, &made, &err);
    if (r == 0)
        r = ml_digest_store_write(&made, work->digest, true, &err);
    if (r < 0)
        ml_report_fail(&err);
    return r < 0 ? 1 : 0;
}

static pid_t start(const struct ml_digest_work *work, bool salvage, uint64_t max_memory_bytes)
{
    pid_t pid;

    fflush(NULL);
    pid = fork();
    if (pid == 0)
        _exit(digest(work, salvage, max_memory_bytes));
    return pid;
}

/* Waits for one of the workers. @return its index, or `count` if there is none */
static size_t wait_for_one(struct worker *workers, size_t count, struct ml_digest_work *work)
{
    int status;
    pid_t pid = wait(&status);
    size_t i = 0;

    while (i < count && (pid <= 0 || workers[i].pid != pid))
        i++;
    if (i == count)
        return count;
    work[workers[i].work].done = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (WIFSIGNALED(status))
        ml_say("%s: making its digest ended by signal %d", work[workers[i].work].trace,
               WTERMSIG(status));
    workers[i].pid = 0;
    return i;
}

void ml_digest_workers(struct ml_digest_work *work, size_t count, bool salvage,
                       uint64_t max_memory_bytes)
{
    struct worker workers[WORKERS_MOST] = {{0}};
    size_t most = count_processors(), running = 0, ended = 0;
    struct ml_progress_line line;

    most = most < WORKERS_MOST ? most : WORKERS_MOST;
    ml_progress_line_init(&line, "digesting traces");
    for (size_t next = 0; next < count || running > 0;) {
        size_t at = running;

        if (next == count || running == most) {
            at = wait_for_one(workers, most, work);
            if (at == most)
                break;
            running--;
            ml_progress_tell(&line.progress, ++ended, count);
        } else {
            for (at = 0; workers[at].pid > 0; at++)
                ;
        }
        if (next < count) {
            workers[at] = (struct worker){start(&work[next], salvage, max_memory_bytes), next};
            running += workers[at].pid > 0;
            workers[at].pid = workers[at].pid > 0 ? workers[at].pid : 0;
            next++;
        }
    }
    ml_progress_line_end(&line);
}
