/* inject.c: see inject.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "inject.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "borrowed_thread.h"
#include "compiler.h"
#include "inject_stub.h"
#include "nanoseconds.h"

#define CALL_MS 5000
#define STACK_BYTES (256u << 10)
#define CODE_BYTES 4096u
#define TEXT_ON_STACK 64

struct injecting {
    struct ml_borrowed_thread borrowed;
    uint64_t code, job, stack;
};

/* ---- Its calls -------------------------------------------------------------- */

static int map(struct injecting *in, size_t bytes, int protection, uint64_t *ret)
{
    const uint64_t call[7] = {
        SYS_mmap, 0, bytes, (uint64_t)protection, MAP_PRIVATE | MAP_ANONYMOUS, UINT64_MAX, 0};
    int64_t value;
    int r = ml_traced_syscall(&in->borrowed.thread, in->borrowed.instruction, call, &value);

    if (!r && value < 0 && value > -4096)
        r = (int)value;
    if (!r)
        *ret = (uint64_t)value;
    return r;
}

static void unmap(struct injecting *in, uint64_t at, size_t bytes)
{
    const uint64_t call[7] = {SYS_munmap, at, bytes, 0, 0, 0, 0};
    int64_t value;

    if (at)
        (void)ml_traced_syscall(&in->borrowed.thread, in->borrowed.instruction, call, &value);
}

static bool write_job(struct injecting *in, const struct ml_injection *what)
{
    const char *const texts[] = {what->library, what->function, what->argument};
    struct ml_inject_job job = {.library = in->job + ML_INJECT_JOB_AT(texts[0]),
                                .function = in->job + ML_INJECT_JOB_AT(texts[1]),
                                .argument = in->job + ML_INJECT_JOB_AT(texts[2]),
                                .way_back =
                                    in->borrowed.thread.way_back + sizeof(in->borrowed.restorer)};

    memcpy(job.functions, in->borrowed.symbols.at, sizeof(job.functions));
    for (size_t i = 0; i < ML_ARRAY_SIZE(texts); i++) {
        if (strlen(texts[i]) >= ML_INJECT_TEXT_ROOM)
            return false;
        strcpy(job.texts[i], texts[i]);
    }
    return ml_traced_write(in->borrowed.pid, in->job, &job, sizeof(job)) &&
           ml_traced_write(in->borrowed.pid, in->code, ml_inject_stub,
                           (size_t)(ml_inject_stub_end - ml_inject_stub));
}

static int make_memory(struct injecting *in, const struct ml_injection *what)
{
    int r = map(in, CODE_BYTES, PROT_READ | PROT_EXEC, &in->code);

    if (!r)
        r = map(in, sizeof(struct ml_inject_job), PROT_READ | PROT_WRITE, &in->job);
    if (!r)
        r = map(in, STACK_BYTES, PROT_READ | PROT_WRITE, &in->stack);
    if (!r && !write_job(in, what))
        r = -EFAULT;
    return r;
}

static void let_others_go(void *context)
{
    ml_borrowed_let_go(context);
}

/* One of the held threads may stop with a lock that pthread_create needs. */
static int create_thread(struct injecting *in)
{
    int32_t created;
    int r;

    in->borrowed.thread.meanwhile = let_others_go;
    in->borrowed.thread.context = &in->borrowed;
    r = ml_traced_run(&in->borrowed.thread, in->code, in->job, in->stack + STACK_BYTES,
                      in->code + (uint64_t)(ml_inject_back - ml_inject_stub), CALL_MS);

    if (!r && !ml_traced_read(in->borrowed.pid, in->job + ML_INJECT_JOB_AT(created), &created,
                              sizeof(created)))
        r = -EFAULT;
    return r ? r : -created;
}

/* The new thread, should there be one later, does nothing. */
static void call_off(struct injecting *in)
{
    const uint32_t done = ML_INJECT_CALLED_OFF;

    if (in->job)
        (void)ml_traced_write(in->borrowed.pid, in->job + ML_INJECT_JOB_AT(done), &done,
                              sizeof(done));
}

static int explain_start(struct injecting *in, int r, struct ml_error *err)
{
    if (r == -ETIMEDOUT)
        return ml_error_set(err, r, "process %d has not started a thread within 5 s; try again",
                            (int)in->borrowed.pid);
    return ml_error_set(err, r, "cannot start a thread in process %d: %s; it goes on unchanged",
                        (int)in->borrowed.pid, strerror(-r));
}

/* Precondition: a thread is stopped and saved. It goes on afterwards in any case. */
static int start_job(struct injecting *in, const struct ml_injection *what, struct ml_error *err)
{
    int r = make_memory(in, what);

    if (!r)
        r = create_thread(in);
    if (r == -ETIMEDOUT) /* the thread still uses the memory */
        call_off(in);
    else
        unmap(in, in->stack, STACK_BYTES);
    if (r && r != -ETIMEDOUT) {
        unmap(in, in->job, sizeof(struct ml_inject_job));
        unmap(in, in->code, CODE_BYTES);
    }
    ml_traced_detach(&in->borrowed.thread);
    return r ? explain_start(in, r, err) : 0;
}

/* ---- Its end -------------------------------------------------------------- */

static int explain_job(struct injecting *in, const struct ml_inject_job *job,
                       const struct ml_injection *what, struct ml_error *err)
{
    return ml_error_set(err, -ENOEXEC, "process %d cannot load %s: %.255s", (int)in->borrowed.pid,
                        what->library, job->error);
}

static int wait_for_job(struct injecting *in, const struct ml_injection *what, int32_t *ret_value,
                        struct ml_error *err)
{
    uint64_t end_ns = ml_clock_ns(CLOCK_MONOTONIC) + what->patience_ns;
    static struct ml_inject_job job;

    while (ml_clock_ns(CLOCK_MONOTONIC) < end_ns) {
        if (!ml_traced_read(in->borrowed.pid, in->job, &job, sizeof(job)))
            return ml_error_set(err, -ESRCH, "process %d has ended", (int)in->borrowed.pid);
        if (job.done == 1) {
            *ret_value = job.value;
            return 0;
        }
        if (job.done)
            return explain_job(in, &job, what, err);
        ml_borrowed_let_go(&in->borrowed);
        poll(NULL, 0, 1);
    }
    return ml_error_set(err, -ETIMEDOUT,
                        "process %d has not answered within %.0f s: its Python lock or its loader "
                        "is busy; it goes on unchanged",
                        (int)in->borrowed.pid, (double)what->patience_ns / 1e9);
}

int ml_inject_syscall(pid_t pid, const struct ml_injected_syscall *call, int32_t *ret_value,
                      struct ml_error *err)
{
    static struct ml_borrowed_thread b;
    uint64_t words[7] = {call->number, call->args[0], call->args[1], call->args[2]};
    char text[TEXT_ON_STACK] = "";
    int64_t value = 0;
    int r = ml_borrow_thread(pid, &b, err);

    if (r)
        return r;
    if (call->text) {
        strncpy(text, call->text, sizeof(text) - 1);
        words[1] = b.thread.way_back - sizeof(text);
        if (!ml_traced_write(pid, words[1], text, sizeof(text)))
            r = -EFAULT;
    }
    if (!r)
        r = ml_traced_syscall(&b.thread, b.instruction, words, &value);
    ml_traced_detach(&b.thread);
    *ret_value = (int32_t)value;
    return r ? ml_error_set(err, r, "process %d cannot be made to call the kernel: %s", (int)pid,
                            strerror(-r))
             : 0;
}

int ml_inject(pid_t pid, const struct ml_injection *injection, int32_t *ret_value,
              struct ml_error *err)
{
    static struct injecting in;
    int r = ml_borrow_thread(pid, &in.borrowed, err);

    in.code = in.job = in.stack = 0;
    if (!r)
        r = start_job(&in, injection, err);
    return r ? r : wait_for_job(&in, injection, ret_value, err);
}
