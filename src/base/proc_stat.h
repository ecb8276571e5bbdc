/* proc_stat.h: a thread's state as /proc reports it. System calls only, no malloc and no stdio:
 * usable in a signal handler and inside the target.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_PROC_STAT_H
#define ML_PROC_STAT_H

#include <stdbool.h>
#include <stdint.h>

struct ml_proc_stat {
    uint32_t pid;         /* the thread's number, which is the process's for its first thread */
    uint32_t parent;      /* the process that started it or adopted it */
    char state;           /* R, S, D, T, t, Z, X, I; see proc(5) */
    uint64_t cpu_ticks;   /* user and system time, in hundredths of a second */
    uint64_t start_ticks; /* when the thread started, since boot */
    uint32_t exit_status; /* a zombie's, as waitpid() has it; 0 also where we may not know */
};

/* @return whether the text, which ends with '\0', is a line of /proc/PID/task/TID/stat */
bool ml_proc_stat_parse(const char *line, struct ml_proc_stat *ret);

/* A key that identifies a process on this machine, also across exec and in another pid
 * namespace. Never 0. */
static inline uint64_t ml_proc_key(const struct ml_proc_stat *stat)
{
    return stat->start_ticks << 32 | stat->pid;
}

/* A stat file. Makes only the calls that the dynamic loader makes too: openat, read, close.
 * @return whether it exists and is valid; changes errno */
bool ml_proc_stat_read_file(const char *path, struct ml_proc_stat *ret);

/* @return whether the thread exists and can be read; changes errno */
bool ml_proc_stat_read(uint32_t pid, uint32_t tid, struct ml_proc_stat *ret);

/* The number of the caller's pid namespace; 0: unknown. Changes errno. */
uint64_t ml_proc_pid_namespace(void);

#endif
