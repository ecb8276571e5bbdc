/* record_and_collect.c: the recorder and the collector, linked into one program
 * so that sanitizers see all of both.
 *
 * The program runs itself again as the target: several threads that allocate,
 * name, push and pop, annotate with NVTX, run tapes backwards, say who asked, and hand blocks to
 * each other. The first one collects, then reads the trace back and checks that every event is
 * there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api_report.h"
#include "collector.h"
#include "names.h"
#include "nvtx_instance.h"
#include "record.h"
#include "stack.h"
#include "trace.h"

#define THREADS 4
#define ROUNDS 20000
/* In each round: an allocation here, a free of what the neighbour left. */
#define ALLOCS (THREADS * ROUNDS)
/* In each: two ranges, of which the outer ends first, so the other is opened
 * twice; and a third one that is left open. */
#define NVTX_ROUNDS 2000
#define NVTX_POPS (THREADS * NVTX_ROUNDS * 3)
#define NVTX_PUSHES (NVTX_POPS + THREADS)
/* In each: a module, and a node of it that runs once more. */
#define TAPE_ROUNDS 2000
#define TAPES (THREADS * TAPE_ROUNDS)

static void check(int ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "record_and_collect: %s\n", what);
    exit(1);
}

/* ---- The target --------------------------------------------------------- */

static memledger_space space;
static char *_Atomic shelf[THREADS];
static char memory[ALLOCS];

/* As a hook does, for one block in a hundred; the stack is that of our caller. */
#define ASKED(i) ((i) % 100 == 0)

static __attribute__((noinline)) void ask(char *block, size_t bytes)
{
    uint32_t stack = ml_stack_here();

    check(stack != 0, "no stack");
    ml_record_alloc_stack(space, (uintptr_t)block, bytes, stack);
}

static void *allocate(void *arg)
{
    size_t self = (size_t)arg;
    char name[32];

    for (size_t i = 0; i < ROUNDS; i++) {
        char *block = &memory[self * ROUNDS + i];
        char *given;

        snprintf(name, sizeof(name), "scope %zu", i % 100);
        ml_api_push(MEMLEDGER_SCOPE_USER, name);
        if (ASKED(i))
            ask(block, 1 + i % 1000);
        else
            ml_api_alloc(space, block, 1 + i % 1000);
        ml_api_label(space, block, name, MEMLEDGER_ACTIVATION);
        ml_api_pop();
        given = atomic_exchange(&shelf[(self + i) % THREADS], block);
        if (given)
            ml_api_free(space, given);
    }
    return NULL;
}

/* Threads make the same domains, strings and categories at once. */
static void annotate(size_t round)
{
    struct ml_nvtx_attributes a = {
        .bytes = sizeof(a), .category = 1 + round % 50, .message_type = ML_NVTX_MESSAGE_REGISTERED};
    ml_nvtx_domain domain;
    char name[32];

    snprintf(name, sizeof(name), "nvtx %zu", round % 50);
    domain = nvtx.create(name);
    nvtx.name_category(domain, a.category, name);
    a.message.registered = nvtx.register_string(domain, name);
    check(domain && a.message.registered, "no handle");
    check(nvtx.push(name) == 0 && nvtx.domain_push(domain, &a) == 0, "wrong level of a push");
    check(nvtx.pop() == 0 && nvtx.domain_pop(domain) == 0, "wrong level of a pop");
}

/* A node made in a module and run again outside of it, with a mark in between. */
static void run_backwards(size_t self)
{
    const uint64_t tape = self + 1;

    for (uint64_t i = 0; i < TAPE_ROUNDS; i++) {
        uint64_t made[] = {0, tape, i, i + 1};
        uint64_t run[] = {0, tape, i, 0};

        ml_record_push(MEMLEDGER_SCOPE_MODULE | ml_name("Class") << 8, ml_name("module"));
        made[0] = ml_record_word(ML_REC_TAPE, 0, ml_now());
        ml_record(made, 4);
        ml_record_pop();
        run[0] = ml_record_word(ML_REC_PUSH_TAPE, 0, ml_now());
        ml_record(run, 4);
        ml_api_mark(MEMLEDGER_MARK_STEP, i, NULL);
        ml_record_pop();
    }
}

static void *allocate_and_annotate(void *arg)
{
    for (size_t i = 0; i < NVTX_ROUNDS; i++)
        annotate(i);
    run_backwards((size_t)arg);
    allocate(arg);
    check(nvtx.push("left open") == 0, "wrong level at the end");
    return NULL;
}

static int be_target(void)
{
    pthread_t threads[THREADS];

    space = ml_api_space_open("cpu", MEMLEDGER_BLOCK, "test");
    check(space, "no space: the recorder did not start");
    check(nvtx_attach(), "NVTX finds no recorder");
    for (size_t i = 0; i < THREADS; i++)
        check(!pthread_create(&threads[i], NULL, allocate_and_annotate, (void *)i), "no thread");
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < THREADS; i++)
        ml_api_free(space, shelf[i]);
    return 0;
}

/* ---- The collector ------------------------------------------------------ */

static struct ml_session_dir session;

static void *wait_for_target(void *arg)
{
    pid_t pid = *(pid_t *)arg;
    int status;

    waitpid(pid, &status, 0);
    check(WIFEXITED(status) && !WEXITSTATUS(status), "the target failed");
    atomic_store(&session.page->finish, 1);
    return NULL;
}

static void record(const char *self, const char *path)
{
    struct ml_collector_opts opts = {.path = path, .force = true, .sample_hz = 1000};
    struct ml_session_opts session_opts = {.ring_bytes = 1u << 16};
    struct ml_collector *collector;
    struct ml_error err = {0};
    struct ml_ticks ticks;
    pthread_t waiter;
    pid_t pid;

    ml_ticks_init(&ticks);
    session_opts.clock = ticks.mode;
    check(!ml_session_dir_init(&session, &session_opts, &err), err.text);
    check(!ml_collector_new(&opts, &session, &ticks, &collector, &err), err.text);
    setenv(ML_SESSION_ENV, session.path, 1);
    pid = fork();
    if (!pid) {
        execl("/proc/self/exe", self, (char *)NULL);
        _exit(127);
    }
    check(pid > 0 && !pthread_create(&waiter, NULL, wait_for_target, &pid), "no process");
    check(!ml_collector_run(collector), "the trace was not written");
    pthread_join(waiter, NULL);
    ml_collector_free(collector);
    ml_session_dir_release(&session);
}

/* The compiler may have put it into allocate_and_annotate, or made a variant. */
static int stack_is_right(const struct ml_trace *trace, uint32_t stack)
{
    const struct ml_frame *frame = ml_trace_frame(trace, ml_trace_stack(trace, stack)->frame);

    return !strncmp(ml_trace_string(trace, frame->function, NULL), "allocate", strlen("allocate"));
}

static int is_backward(const struct ml_trace *trace, uint32_t number)
{
    const struct ml_scope *scope = ml_trace_scope(trace, number);
    const struct ml_scope *phase = ml_trace_scope(trace, scope->parent);

    return scope->depth == 2 && !strcmp(ml_trace_string(trace, scope->name, NULL), "module") &&
           !strcmp(ml_trace_string(trace, scope->class_name, NULL), "Class") &&
           !strcmp(ml_trace_string(trace, phase->name, NULL), "backward");
}

static void verify(const char *path)
{
    static unsigned char live[ALLOCS];
    struct ml_trace *trace;
    struct ml_cursor *cursor;
    struct ml_error err = {0};
    const struct ml_event *events;
    uint64_t counts[ML_KIND_COUNT] = {0};
    uint64_t first = 0, asked = 0, nodes = 0;
    int n;

    check(!ml_trace_open(path, &(struct ml_trace_opts){0}, &trace, &err), err.text);
    for (int pass = 0; pass < 2; pass++) {
        check(!ml_cursor_open(trace, 0, UINT64_MAX, &cursor, &err), err.text);
        while ((n = ml_cursor_next(cursor, &events, &err)) > 0) {
            for (int i = 0; i < n; i++) {
                const struct ml_event *ev = &events[i];
                counts[ev->kind] += !pass;
                nodes += !pass && ev->kind == ML_MARK && ev->args[0] == ML_MARK_NODE;
                check(ev->kind != ML_MARK || is_backward(trace, ev->scope), "not in its module");
                if (ev->kind != ML_ALLOC && ev->kind != ML_FREE)
                    continue;
                asked += !pass && ev->stack;
                check(!ev->stack || stack_is_right(trace, ev->stack), "not who asked");
                if (!pass) {
                    first = first && first < ev->addr ? first : ev->addr;
                    continue;
                }
                check(ev->addr - first < ALLOCS, "an address of nobody's");
                check(live[ev->addr - first] == (ev->kind == ML_FREE), "events out of order");
                live[ev->addr - first] = ev->kind == ML_ALLOC ? 1 : 2;
            }
        }
        check(n == 0, err.text);
        ml_cursor_free(cursor);
    }
    check(counts[ML_ALLOC] == ALLOCS && counts[ML_FREE] == ALLOCS, "allocations or frees missing");
    check(asked == ALLOCS / 100, "stacks missing");
    check(counts[ML_LABEL] == ALLOCS, "labels missing");
    check(counts[ML_PUSH] == ALLOCS + NVTX_PUSHES + TAPES, "pushes missing");
    check(counts[ML_POP] == ALLOCS + NVTX_POPS + TAPES, "pops missing");
    check(counts[ML_MARK] - nodes == TAPES, "marks missing");
    check(nodes && nodes < TAPES, "nodes not told apart");
    check(!counts[ML_LOST], "events lost");
    ml_trace_free(trace);
}

int main(int argc, char **argv)
{
    (void)argc;
    if (getenv(ML_SESSION_ENV))
        return be_target();

    char path[] = "/tmp/record_and_collect-XXXXXX";
    int fd = mkstemp(path);

    check(fd >= 0, "no temporary file");
    close(fd);
    record(argv[0], path);
    verify(path);
    unlink(path);
    return 0;
}
