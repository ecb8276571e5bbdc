/* launch.c: fork, exec, signals, exit codes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ring.h"
#include "seccomp_state.h"

static const int passed_on[] = {SIGINT,  SIGQUIT, SIGTERM,  SIGHUP,
                                SIGUSR1, SIGUSR2, SIGWINCH, SIGALRM};

/* Puts `first` before the variable's value. */
static void put_first(const char *variable, const char *first)
{
    const char *others = getenv(variable);
    char *both = NULL;

    if (others && *others && asprintf(&both, "%s:%s", first, others) < 0)
        both = NULL;
    setenv(variable, both ? both : first, 1);
    free(both);
}

/* For targets that cannot read the session page. */
static void tell_own_filters(void)
{
    struct ml_seccomp_state own;
    char text[32];

    unsetenv(ML_SECCOMP_ENV);
    if (!ml_seccomp_read("/proc/self/status", &own) || !own.mode)
        return;
    snprintf(text, sizeof(text), "%u:%u", own.mode, own.filters);
    setenv(ML_SECCOMP_ENV, text, 1);
}

/* The environment is all that a program can notice of a recording. NVTX supports
 * one tool, and one that the user chose stays. */
static void set_environment(const struct ml_launch_opts *opts)
{
    if (!opts->library)
        return;
    if (opts->cuda_injection) {
        setenv("CUDA_INJECTION64_PATH", opts->library, 1);
    } else {
        put_first("LD_PRELOAD", opts->library);
        /* AddressSanitizer refuses to start if another library is loaded first, without need. */
        put_first("ASAN_OPTIONS", "verify_asan_link_order=0");
        if (*opts->bootstrap)
            put_first("PYTHONPATH", opts->bootstrap);
    }
    setenv("NVTX_INJECTION64_PATH", opts->library, 0);
    setenv(ML_SESSION_ENV, opts->session_dir, 1);
    tell_own_filters();
}

/* Does not return. */
static void child(const struct ml_launch *l, const struct ml_launch_opts *opts, int go, int failure)
{
    char byte;
    int error;

    if (read(go, &byte, 1) != 1)
        _exit(1);
    set_environment(opts);
    sigaction(SIGPIPE, &l->old_pipe, NULL);
    sigaction(SIGXFSZ, &l->old_xfsz, NULL);
    sigaction(SIGCHLD, &l->old_chld, NULL);
    sigprocmask(SIG_SETMASK, &l->old_mask, NULL);
    execvp(opts->path, opts->argv);
    error = errno;
    if (write(failure, &error, sizeof(error)) < 0)
        _exit(1);
    _exit(127);
}

/* A closed pipe for our notes, or a limit on file sizes, is no reason to leave the
 * program alone; and with SIGCHLD ignored, which we may inherit, the kernel does not
 * report how a child ended. */
static void set_dispositions(struct ml_launch *l)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    const struct sigaction usual = {.sa_handler = SIG_DFL};

    sigaction(SIGPIPE, &ignore, &l->old_pipe);
    sigaction(SIGXFSZ, &ignore, &l->old_xfsz);
    sigaction(SIGCHLD, &usual, &l->old_chld);
}

/* Our files would otherwise get descriptors 0 to 2 if these are closed. The
 * program finds them closed again. */
static void fill_standard_streams(void)
{
    int fd;

    do
        fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

void ml_launch_init(struct ml_launch *l)
{
    fill_standard_streams();
    set_dispositions(l);
}

int ml_launch_begin(struct ml_launch *l, const struct ml_launch_opts *opts, struct ml_error *err)
{
    int go[2] = {-1, -1}, failure[2] = {-1, -1};

    sigemptyset(&l->waited);
    sigaddset(&l->waited, SIGCHLD);
    for (size_t i = 0; i < sizeof(passed_on) / sizeof(*passed_on); i++)
        sigaddset(&l->waited, passed_on[i]);
    sigprocmask(SIG_BLOCK, &l->waited, &l->old_mask);
    if (pipe2(go, O_CLOEXEC) || pipe2(failure, O_CLOEXEC))
        return ml_error_set(err, -errno, "cannot make a pipe: %s", strerror(errno));
    l->pid = fork();
    if (l->pid < 0)
        return ml_error_set(err, -errno, "cannot start a process: %s", strerror(errno));
    if (l->pid == 0) {
        close(go[1]);
        close(failure[0]);
        child(l, opts, go[0], failure[1]);
    }
    close(go[0]);
    close(failure[1]);
    l->go = go[1];
    l->failure = failure[0];
    return 0;
}

bool ml_launch_go(struct ml_launch *l, int *ret_errno)
{
    ssize_t n = write(l->go, "", 1);

    close(l->go);
    /* A successful exec closes it, else it has the error. */
    if (n == 1)
        n = read(l->failure, ret_errno, sizeof(*ret_errno));
    close(l->failure);
    /* As for ml_launch_next: the child ends at once, without a signal. */
    l->ended = n != 0;
    return n == 0;
}

void ml_launch_cancel(struct ml_launch *l)
{
    close(l->go);
    close(l->failure);
    waitpid(l->pid, NULL, 0);
    sigprocmask(SIG_SETMASK, &l->old_mask, NULL);
}

static void drop_pending(const struct ml_launch *l)
{
    struct timespec now = {0, 0};

    while (sigtimedwait(&l->waited, NULL, &now) > 0)
        continue;
}

/* Not those that are ignored since our start, as by nohup. */
static bool asks_to_end(int number)
{
    struct sigaction now;

    return (number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT) &&
           !sigaction(number, NULL, &now) && now.sa_handler != SIG_IGN;
}

bool ml_launch_asked(const struct ml_launch *l)
{
    sigset_t pending;

    sigpending(&pending);
    for (int number = 1; number < NSIG; number++) {
        if (asks_to_end(number) && sigismember(&pending, number) == 1 &&
            !sigismember(&l->old_mask, number))
            return true;
    }
    return false;
}

/* A signal from the terminal reaches the program directly; one from a timer
 * that was set before our start does not. */
static void pass_on(struct ml_launch *l, const siginfo_t *info)
{
    if (l->save_signal && info->si_signo == l->save_signal)
        l->saves++;
    else if (l->ended)
        l->stops += asks_to_end(info->si_signo);
    else if (info->si_code <= 0 || info->si_signo == SIGALRM)
        kill(l->pid, info->si_signo);
}

/* Signals from before the program's end, such as the Ctrl-C that ended it, were for the
 * program. It is reaped last, so that a signal sent by a process that saw its end counts. */
static pid_t reap(struct ml_launch *l, int *ret_status)
{
    siginfo_t info = {0};

    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) || !info.si_pid)
        return 0;
    if (info.si_pid == l->pid) {
        l->ended = true;
        drop_pending(l);
    }
    return waitpid(info.si_pid, ret_status, 0);
}

pid_t ml_launch_next(struct ml_launch *l, int timeout_ms, int *ret_status)
{
    struct timespec limit = {timeout_ms / 1000, timeout_ms % 1000 * 1000000L};
    siginfo_t info;
    pid_t pid = reap(l, ret_status);

    if (pid)
        return pid;
    if (sigtimedwait(&l->waited, &info, &limit) < 0)
        return 0;
    if (info.si_signo != SIGCHLD)
        pass_on(l, &info);
    return reap(l, ret_status);
}

#define ASIDE_LOOK_MS 500
#define ASIDE_NICENESS 10

void ml_launch_aside(struct ml_launch *l, void (*work)(void *), void *arg)
{
    unsigned stops = l->stops;
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        sigprocmask(SIG_SETMASK, &l->old_mask, NULL);
        setpriority(PRIO_PROCESS, 0, ASIDE_NICENESS);
        work(arg);
        _exit(0);
    }
    while (pid > 0 && ml_launch_next(l, ASIDE_LOOK_MS, &status) != pid)
        if (l->stops > stops)
            kill(pid, SIGTERM);
}

void ml_launch_adopt(void)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

int ml_launch_has_others(pid_t known)
{
    char path[64];
    FILE *f;
    int pid, found = 0;

    snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
    f = fopen(path, "re");
    if (!f)
        return -1;
    while (!found && fscanf(f, "%d", &pid) == 1)
        found = pid != known;
    fclose(f);
    return found;
}

int ml_launch_exit_code(struct ml_launch *l, int status)
{
    struct rlimit no_core = {0, 0};
    sigset_t only;

    /* Signals that arrived while the trace was being finished: the program has ended. */
    drop_pending(l);
    sigprocmask(SIG_SETMASK, &l->old_mask, NULL);
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    /* The shell must see the same signal; the program's core file stays. */
    setrlimit(RLIMIT_CORE, &no_core);
    signal(WTERMSIG(status), SIG_DFL);
    sigemptyset(&only);
    sigaddset(&only, WTERMSIG(status));
    sigprocmask(SIG_UNBLOCK, &only, NULL);
    raise(WTERMSIG(status));
    return 128 + WTERMSIG(status);
}
