/* injected_call.c: see injected_call.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "injected_call.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io.h"
#include "loaded_name.h"
#include "python_remote.h"

struct answer {
    int32_t value;
    struct ml_error err; /* code 0: value is valid */
};

/* One of both. */
struct request {
    const struct ml_injection *injection;
    const struct ml_injected_syscall *call;
};

/* Python 3.14 does it itself, without stopping a thread, unless its main thread waits. */
static int inject(pid_t pid, const struct request *what, int32_t *ret_value, struct ml_error *err)
{
    int r = what->call ? -ENOTSUP : ml_python_remote(pid, what->injection, ret_value, err);

    if (r != -ENOTSUP && r != -EAGAIN)
        return r;
#ifdef ML_WITH_INJECT
    return what->call ? ml_inject_syscall(pid, what->call, ret_value, err)
                      : ml_inject(pid, what->injection, ret_value, err);
#else
    return ml_error_set(err, r,
                        r == -EAGAIN
                            ? "the main thread of process %d waits or is busy; try again"
                            : "cannot attach to process %d: this memledger was built "
                              "without libdw; start the program with memledger run instead",
                        (int)pid);
#endif
}

static int inject_in_child(pid_t pid, const struct request *what, int32_t *ret_value,
                           struct ml_error *err)
{
    struct answer answer = {0};
    int fds[2];
    pid_t child;
    ssize_t n;

    if (pipe(fds))
        return ml_error_set(err, -errno, "cannot make a pipe: %s", strerror(errno));
    child = fork();
    if (child == 0) {
        setpgid(0, 0); /* Ctrl-C must not end it halfway */
        answer.err.code = inject(pid, what, &answer.value, &answer.err);
        _exit(ml_write_all(fds[1], &answer, sizeof(answer)) ? 1 : 0);
    }
    close(fds[1]);
    n = child > 0 ? read(fds[0], &answer, sizeof(answer)) : -1;
    close(fds[0]);
    if (child > 0)
        waitpid(child, NULL, 0);
    if (n != sizeof(answer))
        return ml_error_set(err, -EIO, "cannot reach process %d", (int)pid);
    *err = answer.err;
    *ret_value = answer.value;
    return answer.err.code;
}

int ml_injected_call(pid_t pid, const struct ml_injection *what, int32_t *ret_value,
                     struct ml_error *err)
{
    return inject_in_child(pid, &(struct request){.injection = what}, ret_value, err);
}

int ml_injected_syscall(pid_t pid, const struct ml_injected_syscall *call, int32_t *ret_value,
                        struct ml_error *err)
{
    return inject_in_child(pid, &(struct request){.call = call}, ret_value, err);
}

bool ml_injected_recorder(pid_t pid, char ret[PATH_MAX])
{
    return ml_loaded_name_find(pid, "libmemledger", ret, PATH_MAX);
}
