/* inject.c: see inject.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "inject.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "compiler.h"
#include "nanoseconds.h"
#include "safe_point.h"
#include "target_filters.h"
#include "target_symbols.h"
#include "traced_thread.h"
#include "way_back.h"

#define SEARCH_MS 5000 /* for a thread at a safe point */
#define CALL_MS 5000
#define THREADS_MAX 64 /* that are tried in each round */
#define STACK_BYTES (256u << 10)
#define CODE_BYTES 4096u
#define TEXT_ROOM 1024
#define TEXT_ON_STACK 64

/* The memory that the new thread works with; stub.S below knows the offsets. */
struct job {
    uint64_t functions[ML_TARGET_FUNCTIONS];
    uint64_t library, function, argument; /* addresses of the texts */
    int32_t value;
    _Atomic uint32_t
        done;          /* 1: value is valid, 2: cannot load, 3: no such function, 4: called off */
    char error[256];   /* what dlerror said */
    uint64_t way_back; /* stack pointer of the borrowed thread for its last call */
    uint64_t thread;   /* that pthread_create has made */
    int32_t created;   /* what it returned */
    char texts[3][TEXT_ROOM];
};

#define JOB_AT(field) offsetof(struct job, field)
#define CALLED_OFF 4

/* Position-independent code, copied into the process. The first part is for the borrowed thread,
 * with a job as its argument: it starts another thread, keeps errno, and goes back to its own work
 * as at the end of a signal handler. The second is void *stub(struct job *), for that thread. */
extern const unsigned char ml_inject_stub[], ml_inject_stub_end[], ml_inject_back[],
    ml_inject_entry[];
__asm__(".pushsection .rodata\n"
        ".irp name, ml_inject_stub, ml_inject_stub_end, ml_inject_back, ml_inject_entry\n"
        ".hidden \\name\n.globl \\name\n"
        ".endr\n"
        "ml_inject_stub:\n"
        "    movq %rdi, %rbx\n"
        "    call *48(%rbx)\n" /* __errno_location */
        "    movq %rax, %r12\n"
        "    movl (%rax), %r13d\n"
        "    leaq 360(%rbx), %rdi\n"
        "    xorl %esi, %esi\n"
        "    leaq ml_inject_entry(%rip), %rdx\n"
        "    movq %rbx, %rcx\n"
        "    call *24(%rbx)\n" /* pthread_create */
        "    movl %eax, 368(%rbx)\n"
        "    movl %r13d, (%r12)\n"
        "    movq 352(%rbx), %rsp\n"
        "5:\n"
        "    movl $15, %eax\n" /* rt_sigreturn */
        "    syscall\n"
        "ml_inject_back:\n"
        "    jmp 5b\n"
        "    .balign 16\n"
        "ml_inject_entry:\n"
        "    endbr64\n"
        "    pushq %rbx\n"
        "    movq %rdi, %rbx\n"
        "    call *32(%rbx)\n" /* pthread_self */
        "    movq %rax, %rdi\n"
        "    call *40(%rbx)\n" /* pthread_detach */
        "    cmpl $0, 92(%rbx)\n"
        "    jne 2f\n" /* called off */
        "    movq 64(%rbx), %rdi\n"
        "    movl $2, %esi\n" /* RTLD_NOW */
        "    call *0(%rbx)\n" /* dlopen */
        "    movl $2, %edx\n"
        "    testq %rax, %rax\n"
        "    jz 1f\n"
        "    movq %rax, %rdi\n"
        "    movq 72(%rbx), %rsi\n"
        "    call *8(%rbx)\n" /* dlsym */
        "    movl $3, %edx\n"
        "    testq %rax, %rax\n"
        "    jz 1f\n"
        "    movq 80(%rbx), %rdi\n"
        "    call *%rax\n"
        "    movl %eax, 88(%rbx)\n"
        "    movl $1, 92(%rbx)\n"
        "    jmp 2f\n"
        "1:\n"
        "    movl %edx, 88(%rbx)\n"
        "    call *16(%rbx)\n" /* dlerror, whose text ends with the thread */
        "    testq %rax, %rax\n"
        "    jz 4f\n"
        "    movq %rax, %rsi\n"
        "    leaq 96(%rbx), %rdi\n"
        "    movl $255, %ecx\n"
        "3:\n"
        "    lodsb\n"
        "    stosb\n"
        "    testb %al, %al\n"
        "    loopne 3b\n"
        "    movb $0, (%rdi)\n"
        "4:\n"
        "    movl 88(%rbx), %edx\n"
        "    movl %edx, 92(%rbx)\n"
        "2:\n"
        "    popq %rbx\n"
        "    xorl %eax, %eax\n"
        "    ret\n"
        "ml_inject_stub_end:\n"
        ".popsection\n");
static_assert(JOB_AT(functions) + 8 * ML_TARGET_DLERROR == 16, "as in the stub");
static_assert(JOB_AT(functions) + 8 * ML_TARGET_PTHREAD_SELF == 32, "as in the stub");
static_assert(JOB_AT(functions) + 8 * ML_TARGET_PTHREAD_DETACH == 40, "as in the stub");
static_assert(JOB_AT(library) == 64 && JOB_AT(function) == 72 && JOB_AT(argument) == 80 &&
                  JOB_AT(value) == 88 && JOB_AT(done) == 92 && JOB_AT(error) == 96,
              "as in the stub");
static_assert(sizeof(((struct job *)0)->error) > 255, "as in the stub");
static_assert(JOB_AT(functions) + 8 * ML_TARGET_PTHREAD_CREATE == 24, "as in the stub");
static_assert(JOB_AT(functions) + 8 * ML_TARGET_ERRNO_LOCATION == 48, "as in the stub");
static_assert(JOB_AT(way_back) == 352 && JOB_AT(thread) == 360 && JOB_AT(created) == 368,
              "as in the stub");

struct injecting {
    pid_t pid;
    struct ml_target_symbols symbols;
    struct ml_traced_thread thread;
    uint64_t instruction; /* a syscall instruction */
    uint64_t restorer;    /* see way_back.h */
    uint64_t code, job, stack;
    pid_t held[THREADS_MAX]; /* seized, but not to be stopped yet */
    unsigned held_count;
};

/* ---- A thread ------------------------------------------------------------- */

static int explain_seize(pid_t pid, int r, struct ml_error *err)
{
    char scope = '0';
    int fd = open("/proc/sys/kernel/yama/ptrace_scope", O_RDONLY | O_CLOEXEC);

    if (fd >= 0) {
        if (read(fd, &scope, 1) != 1)
            scope = '0';
        close(fd);
    }
    if (r == -ENOEXEC)
        return ml_error_set(err, r, "cannot recognise the libc of process %d", (int)pid);
    if (r != -EPERM)
        return ml_error_set(err, r, "cannot stop process %d: %s", (int)pid, strerror(-r));
    if (scope == '3')
        return ml_error_set(err, r,
                            "this machine forbids ptrace until it is restarted "
                            "(kernel.yama.ptrace_scope is 3); start the program with memledger "
                            "run instead");
    if (scope != '0' && geteuid() != 0)
        return ml_error_set(err, r,
                            "process %d may be traced by root only (kernel.yama.ptrace_scope is "
                            "%c); use sudo memledger attach, or sudo sysctl "
                            "kernel.yama.ptrace_scope=0",
                            (int)pid, scope);
    return ml_error_set(err, r,
                        "not allowed to trace process %d: it belongs to another user, or this "
                        "container has no CAP_SYS_PTRACE; use sudo, or docker run "
                        "--cap-add=SYS_PTRACE",
                        (int)pid);
}

static unsigned list_threads(pid_t pid, pid_t ret[THREADS_MAX])
{
    char path[64];
    struct dirent *entry;
    unsigned n = 0;
    DIR *tasks;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    tasks = opendir(path);
    while (tasks && n < THREADS_MAX && (entry = readdir(tasks)))
        if (entry->d_name[0] != '.')
            ret[n++] = atoi(entry->d_name);
    if (tasks)
        closedir(tasks);
    return n;
}

/* The instruction in libc's function `syscall`, and the end of its signal handlers. */
static bool find_instructions(struct injecting *in)
{
    unsigned char code[64];

    if (!ml_traced_read(in->pid, in->symbols.at[ML_TARGET_SYSCALL], code, sizeof(code)))
        return false;
    for (size_t i = 0; i + 1 < sizeof(code); i++) {
        if (code[i] == 0x0f && code[i + 1] == 0x05) {
            in->instruction = in->symbols.at[ML_TARGET_SYSCALL] + i;
            in->restorer = ml_way_back_find(in->pid, in->instruction);
            return in->restorer != 0;
        }
    }
    return false;
}

/* Saves the state of a stopped thread, if it is at a safe point. @return as below */
static int save_thread(struct injecting *in, struct ml_unwinder *u, const char **ret_why)
{
    int r;

    if (!in->restorer && !find_instructions(in))
        return -ENOEXEC;
    if (!ml_point_is_safe(u, &in->thread, ret_why))
        return -EAGAIN;
    r = ml_traced_save(&in->thread, in->restorer);
    if (r == -ENOSPC)
        *ret_why = "at the end of its stack";
    return r == -ENOSPC ? -EAGAIN : r;
}

/* Threads whose calls have returned go on. */
static void let_go(void *context)
{
    struct injecting *in = context;

    for (unsigned i = 0; i < in->held_count;) {
        if (ml_traced_let_go(in->held[i]))
            in->held[i] = in->held[--in->held_count];
        else
            i++;
    }
}

static bool is_held(const struct injecting *in, pid_t tid)
{
    unsigned i = 0;

    while (i < in->held_count && in->held[i] != tid)
        i++;
    return i < in->held_count;
}

/* @return 0: the thread is stopped at a safe point, and saved; -EAGAIN; -ENOEXEC: libc has not the
 *         instructions that are needed; another negative errno */
static int try_thread(struct injecting *in, struct ml_unwinder *u, pid_t tid, const char **ret_why)
{
    int r = is_held(in, tid) ? -EAGAIN : ml_traced_seize(&in->thread, in->pid, tid);

    if (r)
        return r == -ESRCH ? -EAGAIN : r;
    r = ml_traced_stop(&in->thread);
    if (r == -ETIMEDOUT) {
        *ret_why = "in a call that cannot be interrupted";
        in->held[in->held_count++] = tid;
        return -EAGAIN;
    }
    if (r == -EAGAIN)
        *ret_why = "stopped";
    if (!r)
        r = save_thread(in, u, ret_why);
    if (r)
        ml_traced_detach(&in->thread);
    return r == -ESRCH ? -EAGAIN : r;
}

static int find_thread(struct injecting *in, struct ml_unwinder *u, struct ml_error *err)
{
    uint64_t end_ns = ml_clock_ns(CLOCK_MONOTONIC) + SEARCH_MS * UINT64_C(1000000);
    const char *why = "gone";

    do {
        pid_t threads[THREADS_MAX];
        unsigned n = list_threads(in->pid, threads);

        let_go(in);
        if (!n)
            return ml_error_set(err, -ESRCH, "process %d has ended", (int)in->pid);
        for (unsigned i = 0; i < n && in->held_count < THREADS_MAX; i++) {
            int r = try_thread(in, u, threads[i], &why);
            if (r != -EAGAIN)
                return r ? explain_seize(in->pid, r, err) : 0;
        }
        poll(NULL, 0, 1);
    } while (ml_clock_ns(CLOCK_MONOTONIC) < end_ns);
    return ml_error_set(err, -EAGAIN,
                        "no thread of process %d could be interrupted safely within 5 s: the last "
                        "one was %s; try again",
                        (int)in->pid, why);
}

/* ---- Its calls -------------------------------------------------------------- */

static int map(struct injecting *in, size_t bytes, int protection, uint64_t *ret)
{
    const uint64_t call[7] = {
        SYS_mmap, 0, bytes, (uint64_t)protection, MAP_PRIVATE | MAP_ANONYMOUS, UINT64_MAX, 0};
    int64_t value;
    int r = ml_traced_syscall(&in->thread, in->instruction, call, &value);

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
        (void)ml_traced_syscall(&in->thread, in->instruction, call, &value);
}

static bool write_job(struct injecting *in, const struct ml_injection *what)
{
    const char *const texts[] = {what->library, what->function, what->argument};
    struct job job = {.library = in->job + JOB_AT(texts[0]),
                      .function = in->job + JOB_AT(texts[1]),
                      .argument = in->job + JOB_AT(texts[2]),
                      .way_back = in->thread.way_back + sizeof(in->restorer)};

    memcpy(job.functions, in->symbols.at, sizeof(job.functions));
    for (size_t i = 0; i < ML_ARRAY_SIZE(texts); i++) {
        if (strlen(texts[i]) >= TEXT_ROOM)
            return false;
        strcpy(job.texts[i], texts[i]);
    }
    return ml_traced_write(in->pid, in->job, &job, sizeof(job)) &&
           ml_traced_write(in->pid, in->code, ml_inject_stub,
                           (size_t)(ml_inject_stub_end - ml_inject_stub));
}

static int make_memory(struct injecting *in, const struct ml_injection *what)
{
    int r = map(in, CODE_BYTES, PROT_READ | PROT_EXEC, &in->code);

    if (!r)
        r = map(in, sizeof(struct job), PROT_READ | PROT_WRITE, &in->job);
    if (!r)
        r = map(in, STACK_BYTES, PROT_READ | PROT_WRITE, &in->stack);
    if (!r && !write_job(in, what))
        r = -EFAULT;
    return r;
}

/* One of the held threads may stop with a lock that pthread_create needs. */
static int create_thread(struct injecting *in)
{
    int32_t created;
    int r;

    in->thread.meanwhile = let_go;
    in->thread.context = in;
    r = ml_traced_run(&in->thread, in->code, in->job, in->stack + STACK_BYTES,
                      in->code + (uint64_t)(ml_inject_back - ml_inject_stub), CALL_MS);

    if (!r && !ml_traced_read(in->pid, in->job + JOB_AT(created), &created, sizeof(created)))
        r = -EFAULT;
    return r ? r : -created;
}

/* The new thread, should there be one later, does nothing. */
static void call_off(struct injecting *in)
{
    const uint32_t done = CALLED_OFF;

    if (in->job)
        (void)ml_traced_write(in->pid, in->job + JOB_AT(done), &done, sizeof(done));
}

static int explain_start(struct injecting *in, int r, struct ml_error *err)
{
    if (r == -ETIMEDOUT)
        return ml_error_set(err, r, "process %d has not started a thread within 5 s; try again",
                            (int)in->pid);
    return ml_error_set(err, r, "cannot start a thread in process %d: %s; it goes on unchanged",
                        (int)in->pid, strerror(-r));
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
        unmap(in, in->job, sizeof(struct job));
        unmap(in, in->code, CODE_BYTES);
    }
    ml_traced_detach(&in->thread);
    return r ? explain_start(in, r, err) : 0;
}

/* ---- Its end -------------------------------------------------------------- */

static int explain_job(struct injecting *in, const struct job *job, const struct ml_injection *what,
                       struct ml_error *err)
{
    return ml_error_set(err, -ENOEXEC, "process %d cannot load %s: %.255s", (int)in->pid,
                        what->library, job->error);
}

static int wait_for_job(struct injecting *in, const struct ml_injection *what, int32_t *ret_value,
                        struct ml_error *err)
{
    uint64_t end_ns = ml_clock_ns(CLOCK_MONOTONIC) + what->patience_ns;
    static struct job job;

    while (ml_clock_ns(CLOCK_MONOTONIC) < end_ns) {
        if (!ml_traced_read(in->pid, in->job, &job, sizeof(job)))
            return ml_error_set(err, -ESRCH, "process %d has ended", (int)in->pid);
        if (job.done == 1) {
            *ret_value = job.value;
            return 0;
        }
        if (job.done)
            return explain_job(in, &job, what, err);
        let_go(in);
        poll(NULL, 0, 1);
    }
    return ml_error_set(err, -ETIMEDOUT,
                        "process %d has not answered within %.0f s: its Python lock or its loader "
                        "is busy; it goes on unchanged",
                        (int)in->pid, (double)what->patience_ns / 1e9);
}

/* Stops a thread at a safe point, and saves its state. */
static int borrow_thread(struct injecting *in, struct ml_error *err)
{
    struct ml_unwinder *unwinder = NULL;
    int r = ml_target_symbols_find(in->pid, &in->symbols, err);

    if (!r)
        r = ml_target_filters_check(in->pid, err);
    if (!r)
        r = ml_unwinder_new(in->pid, &unwinder, err);
    if (!r)
        r = find_thread(in, unwinder, err);
    ml_unwinder_free(unwinder);
    return r;
}

int ml_inject_syscall(pid_t pid, const struct ml_injected_syscall *call, int32_t *ret_value,
                      struct ml_error *err)
{
    static struct injecting in;
    uint64_t words[7] = {call->number, call->args[0], call->args[1], call->args[2]};
    char text[TEXT_ON_STACK] = "";
    int64_t value = 0;
    int r;

    in = (struct injecting){.pid = pid};
    r = borrow_thread(&in, err);
    if (r)
        return r;
    if (call->text) {
        strncpy(text, call->text, sizeof(text) - 1);
        words[1] = in.thread.way_back - sizeof(text);
        if (!ml_traced_write(pid, words[1], text, sizeof(text)))
            r = -EFAULT;
    }
    if (!r)
        r = ml_traced_syscall(&in.thread, in.instruction, words, &value);
    ml_traced_detach(&in.thread);
    *ret_value = (int32_t)value;
    return r ? ml_error_set(err, r, "process %d cannot be made to call the kernel: %s", (int)pid,
                            strerror(-r))
             : 0;
}

int ml_inject(pid_t pid, const struct ml_injection *injection, int32_t *ret_value,
              struct ml_error *err)
{
    static struct injecting in;
    int r;

    in = (struct injecting){.pid = pid};
    r = borrow_thread(&in, err);
    if (!r)
        r = start_job(&in, injection, err);
    return r ? r : wait_for_job(&in, injection, ret_value, err);
}
