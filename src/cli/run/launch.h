/* launch.h: starts a program under the recorder and waits for it, passing
 * signals and its end through.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_LAUNCH_H
#define ML_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "error.h"

struct ml_launch {
    pid_t pid;
    bool ended;        /* the program has; signals are no longer forwarded */
    int save_signal;   /* not for the program, but a request to save the recording; 0: none */
    unsigned saves;    /* such requests so far */
    unsigned stops;    /* signals since then that ask us to end */
    int go;            /* write end of the pipe that the program waits on */
    int failure;       /* read end of the pipe that reports a failed exec */
    sigset_t old_mask; /* the caller's */
    sigset_t waited;   /* signals that ml_launch_next waits for */
    struct sigaction old_pipe, old_xfsz, old_chld; /* the caller's, for the program */
};

struct ml_launch_opts {
    const char *path; /* of the program */
    char **argv;
    const char *library; /* the recorder; NULL: the program runs untouched */
    const char *session_dir;
    bool cuda_injection;   /* the CUDA driver loads the recorder, not the loader */
    const char *bootstrap; /* a folder that Python searches first; "": none */
};

/* Sets this process up for launching. Call it first. */
void ml_launch_init(struct ml_launch *l);

/* Forks; the child waits for ml_launch_go. From then on the caller's signals
 * are blocked until ml_launch_next. */
int ml_launch_begin(struct ml_launch *l, const struct ml_launch_opts *opts, struct ml_error *err);

/* Whether a signal is pending that asks us to end; it stays pending, for the program or for
 * ml_launch_cancel. */
bool ml_launch_asked(const struct ml_launch *l);

/* Lets the child run the program. False with *ret_errno when it could not be
 * executed. */
bool ml_launch_go(struct ml_launch *l, int *ret_errno);

/* Ends the child before it has run anything. A blocked signal takes effect. */
void ml_launch_cancel(struct ml_launch *l);

/* Waits at most timeout_ms for a child of ours to end; signals sent to us are
 * forwarded to the program meanwhile, and counted once it has ended. Returns the
 * child's pid and its status, 0 on time-out or after a signal. */
pid_t ml_launch_next(struct ml_launch *l, int timeout_ms, int *ret_status);

/* Does some work in a process of its own, at low priority, and waits. A signal that asks us to end
 * ends it. Call it after the program's end. */
void ml_launch_aside(struct ml_launch *l, void (*work)(void *), void *arg);

/* Makes processes whose parents end children of ours, so that the next function
 * sees them. */
void ml_launch_adopt(void);

/* 1 if we have a child besides `known`, 0 if not, -1 if the kernel does not
 * say. */
int ml_launch_has_others(pid_t known);

/* Ends this process the way the program ended. */
int ml_launch_exit_code(struct ml_launch *l, int status);

#endif
