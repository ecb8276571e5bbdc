/* profiler_api.c: every controlling function and object of memledger.h, from C.
 *
 *     profiler_api CASE
 *
 * Each case checks what the calls return; test_profiler.py runs them and checks
 * the files. Exit status 0: as expected.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "memledger/memledger.h"

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition,                     \
                    memledger_last_error());                                                       \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#define SET(key, value) memledger_set_config(1, (const char *[]){key}, (const char *[]){value})

static void pass_ms(long ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    nanosleep(&t, NULL);
}

static void assert_fails(int result, const char *reason)
{
    if (result == -1 && strstr(memledger_last_error(), reason))
        return;
    fprintf(stderr, "%d, \"%s\" does not say \"%s\"\n", result, memledger_last_error(), reason);
    exit(1);
}

/* ---- Without a recorder everything works and does nothing ---------------- */

static void absent(void)
{
    const char *text = NULL;

    CHECK(!memledger_active());
    CHECK(SET("no such key", "x") == 0);
    CHECK(memledger_set_state(MEMLEDGER_RUN) == 0);
    CHECK(memledger_set_process_state(MEMLEDGER_RUN, MEMLEDGER_SERVER) == 0);
    CHECK(memledger_pause() == 0 && memledger_resume() == 0);
    CHECK(memledger_dump(1) == 0 && memledger_dump_process(1, MEMLEDGER_SERVER) == 0);
    CHECK(memledger_stats(&text, 1, MEMLEDGER_JSON, MEMLEDGER_BY_AVG, 1) == 0);
    CHECK(text && !text[0]);
    CHECK(!memledger_last_error()[0]);
    CHECK(memledger_domain("d") == 0 && memledger_task(0, "t") == 0);
    CHECK(memledger_frame(0, "f") == 0 && memledger_event("e") == 0);
    CHECK(memledger_counter(0, "c") == 0 && memledger_destroy(0) == 0);
    CHECK(memledger_start(0) == 0 && memledger_stop(0) == 0);
    CHECK(memledger_counter_set(0, 1) == 0 && memledger_counter_adjust(0, -1) == 0);
    CHECK(memledger_marker(0, "m", "nowhere") == 0);
    CHECK(memledger_space_open("cpu", MEMLEDGER_BLOCK, "a") == 0);
    memledger_push("p");
    memledger_pop();
}

/* ---- One of everything --------------------------------------------------- */

static void configure(void)
{
    const char *keys[] = {"profile_all",
                          "profile_symbolic",
                          "profile_imperative",
                          "profile_memory",
                          "profile_api",
                          "filename",
                          "gpu_memory_profile_filename_prefix",
                          "continuous_dump",
                          "dump_period",
                          "aggregate_stats",
                          "profile_process"};
    const char *vals[] = {"TRUE", "1",     "true", "True", "0",     "all.json",
                          "gpu",  "false", "0.25", "1",    "worker"};

    CHECK(memledger_set_config(11, keys, vals) == 0);
}

static void use_objects(void)
{
    memledger_object domain = memledger_domain("a \"domain\"");
    memledger_object task = memledger_task(domain, "task");
    memledger_object frame = memledger_frame(domain, "frame");
    memledger_object event = memledger_event("event");
    memledger_object counter = memledger_counter(domain, "counter");

    CHECK(domain && task && frame && event && counter);
    CHECK(memledger_start(task) == 0);
    CHECK(memledger_start(frame) == 0);
    CHECK(memledger_start(event) == 0);
    CHECK(memledger_counter_set(counter, 5000000000u) == 0);
    CHECK(memledger_counter_adjust(counter, 1000) == 0);
    CHECK(memledger_counter_adjust(counter, -5000000900) == 0);
    CHECK(memledger_marker(domain, "marker", "thread") == 0);
    pass_ms(5);
    CHECK(memledger_stop(event) == 0);
    CHECK(memledger_stop(frame) == 0);
    CHECK(memledger_stop(task) == 0);
    CHECK(memledger_destroy(task) == 0 && memledger_destroy(frame) == 0);
    CHECK(memledger_destroy(event) == 0 && memledger_destroy(counter) == 0);
    CHECK(memledger_destroy(domain) == 0);
    CHECK(memledger_domain("another") != 0);
}

static void use_memory(void)
{
    memledger_space space = memledger_space_open("cuda:0", MEMLEDGER_BLOCK, "arena");
    char block[2];

    memledger_push_kind(MEMLEDGER_SCOPE_OPERATOR, "conv");
    memledger_alloc(space, &block[0], 3000000000u);
    memledger_alloc(space, &block[1], 2000000000u);
    memledger_free(space, &block[0]);
    memledger_pop();
}

static void print_stats(int reset, enum memledger_stats_format format)
{
    const char *text = NULL;

    CHECK(memledger_stats(&text, reset, format, MEMLEDGER_BY_TOTAL, 0) == 0);
    fputs(text, stdout);
}

static void all(void)
{
    CHECK(memledger_active());
    configure();
    CHECK(memledger_set_state(MEMLEDGER_RUN) == 0);
    use_objects();
    use_memory();
    CHECK(memledger_set_state(MEMLEDGER_STOP) == 0);
    CHECK(memledger_dump(1) == 0);
    print_stats(1, MEMLEDGER_JSON);
}

static void table(void)
{
    CHECK(SET("aggregate_stats", "1") == 0);
    CHECK(SET("filename", "table.json") == 0);
    CHECK(memledger_set_state(MEMLEDGER_RUN) == 0);
    use_objects();
    print_stats(1, MEMLEDGER_TABLE);
    puts("after the reset");
    print_stats(0, MEMLEDGER_TABLE);
}

/* ---- Dumps --------------------------------------------------------------- */

static void copy_profile(const char *to)
{
    char command[256];

    snprintf(command, sizeof(command), "cp profile.json %s", to);
    CHECK(system(command) == 0);
}

static void dumps(void)
{
    memledger_object counter = memledger_counter(memledger_domain("d"), "c");

    assert_fails(memledger_dump(1), "has not been run");
    CHECK(SET("continuous_dump", "0") == 0);
    for (int i = 0; i < 3; i++) {
        char name[32];
        CHECK(memledger_set_state(MEMLEDGER_RUN) == 0);
        CHECK(memledger_counter_set(counter, (uint64_t)i) == 0);
        CHECK(memledger_dump(0) == 0);
        snprintf(name, sizeof(name), "whole%d.json", i);
        copy_profile(name);
    }
    CHECK(SET("continuous_dump", "1") == 0);
    CHECK(memledger_set_state(MEMLEDGER_RUN) == 0);
    for (int i = 0; i < 3; i++) {
        char name[32];
        CHECK(memledger_counter_set(counter, (uint64_t)i) == 0);
        CHECK(memledger_dump(0) == 0);
        snprintf(name, sizeof(name), "growing%d.json", i);
        copy_profile(name);
    }
    CHECK(memledger_dump(1) == 0);
    CHECK(memledger_dump(1) == 0);
    CHECK(SET("filename", "missing/x.json") == 0);
    CHECK(memledger_set_state(MEMLEDGER_RUN) == 0);
    assert_fails(memledger_dump(1), "missing/x.json: cannot be created");
}

static void exits(void)
{
    memledger_object counter = memledger_counter(memledger_domain("d"), "c");

    CHECK(memledger_set_state(MEMLEDGER_RUN) == 0);
    CHECK(memledger_counter_set(counter, 77) == 0);
    _exit(0); /* the collector ends the file */
}

/* ---- States -------------------------------------------------------------- */

static void states(void)
{
    memledger_object domain = memledger_domain("d");
    memledger_object counter = memledger_counter(domain, "c");
    memledger_object across = memledger_task(domain, "across");
    memledger_object hidden = memledger_task(domain, "hidden");

    CHECK(memledger_counter_set(counter, 1) == 0); /* in the trace, not in the profile */
    CHECK(memledger_set_state(MEMLEDGER_RUN) == 0);
    CHECK(memledger_counter_set(counter, 2) == 0);
    CHECK(memledger_start(across) == 0);
    CHECK(memledger_pause() == 0 && memledger_pause() == 0);
    CHECK(memledger_counter_adjust(counter, 10) == 0);
    CHECK(memledger_marker(domain, "unseen", "global") == 0);
    CHECK(memledger_stop(across) == 0);
    CHECK(memledger_start(hidden) == 0);
    CHECK(memledger_resume() == 0);
    CHECK(memledger_stop(hidden) == 0);
    CHECK(memledger_counter_adjust(counter, 1) == 0); /* 2 + 10 + 1 */
    CHECK(memledger_set_state(MEMLEDGER_STOP) == 0);
    CHECK(memledger_resume() == 0);
    CHECK(memledger_counter_set(counter, 99) == 0); /* nowhere */
    CHECK(memledger_set_state(MEMLEDGER_RUN) == 0);
    CHECK(memledger_counter_adjust(counter, 1) == 0); /* 100 */
    CHECK(memledger_dump(1) == 0);
}

/* ---- Wrong calls --------------------------------------------------------- */

static void wrong_objects(void)
{
    memledger_object domain = memledger_domain("d");
    memledger_object task = memledger_task(domain, "t");
    memledger_object counter = memledger_counter(domain, "c");
    memledger_object again;

    CHECK(memledger_task(0, "x") == 0);
    assert_fails(-1, "not an object");
    CHECK(memledger_task(task, "x") == 0);
    assert_fails(-1, "is a task; this call needs a domain");
    CHECK(memledger_create((enum memledger_object_kind)9, domain, "x") == 0);
    assert_fails(-1, "kind");
    CHECK(memledger_domain(NULL) == 0);
    assert_fails(-1, "NULL");
    assert_fails(memledger_start(0), "not an object");
    assert_fails(memledger_start(123456), "not an object");
    assert_fails(memledger_start(counter), "is a counter; this call needs a task");
    assert_fails(memledger_start(domain), "is a domain");
    assert_fails(memledger_stop(task), "not started");
    assert_fails(memledger_counter_set(task, 1), "needs a counter");
    assert_fails(memledger_counter_adjust(task, 1), "needs a counter");
    assert_fails(memledger_counter_set(counter, UINT64_MAX), "9223372036854775807");
    assert_fails(memledger_marker(task, "m", "global"), "needs a domain");
    assert_fails(memledger_marker(domain, "m", "planet"), "bad scope \"planet\"");
    CHECK(memledger_destroy(task) == 0);
    assert_fails(memledger_destroy(task), "destroyed");
    assert_fails(memledger_start(task), "destroyed");
    /* The number is used again, the old handle stays invalid. */
    again = memledger_task(domain, "t");
    CHECK(again && again != task && (uint32_t)again == (uint32_t)task);
    assert_fails(memledger_start(task), "destroyed");
    CHECK(memledger_start(again) == 0 && memledger_stop(again) == 0);
}

static void wrong_settings(void)
{
    const char *keys[] = {"filename", "dump_perod"};
    const char *vals[] = {"must-not-be-used.json", "1"};

    assert_fails(memledger_set_config(2, keys, vals), "did you mean \"dump_period\"");
    assert_fails(SET("aggregate_stats", "perhaps"), "true, false, 1 or 0");
    assert_fails(memledger_set_state((enum memledger_state)3), "bad state");
    CHECK(memledger_set_state(MEMLEDGER_RUN) == 0);
    CHECK(memledger_dump(1) == 0);
}

static void wrong(void)
{
    errno = ENOTTY;
    wrong_objects();
    wrong_settings();
    CHECK(errno == ENOTTY);
}

/* A task made and destroyed in every step needs one entry. */
static void many(void)
{
    memledger_object domain = memledger_domain("d");

    for (int i = 0; i < 2000000; i++) {
        memledger_object task = memledger_task(domain, "step");
        CHECK(task && (uint32_t)task == 2);
        CHECK(memledger_destroy(task) == 0);
    }
}

/* ---- Threads, processes, signals ----------------------------------------- */

static void *work(void *number)
{
    char name[32];
    memledger_object counter, shared = memledger_counter(memledger_domain("d"), "shared");
    const char *text;

    snprintf(name, sizeof(name), "thread %d", (int)(intptr_t)number);
    counter = memledger_counter(memledger_domain(name), name);
    for (int i = 0; i < 100; i++) {
        CHECK(memledger_counter_adjust(counter, 1) == 0);
        CHECK(memledger_counter_adjust(shared, 1) == 0);
        if (i % 10)
            continue;
        CHECK(memledger_dump(0) == 0);
        CHECK(memledger_stats(&text, 0, MEMLEDGER_JSON, 0, 0) == 0);
        CHECK(strstr(text, name));
    }
    return NULL;
}

static void threads(void)
{
    pthread_t ids[8];

    CHECK(SET("aggregate_stats", "1") == 0);
    CHECK(memledger_set_state(MEMLEDGER_RUN) == 0);
    for (intptr_t i = 0; i < 8; i++)
        CHECK(pthread_create(&ids[i], NULL, work, (void *)i) == 0);
    for (int i = 0; i < 8; i++)
        CHECK(pthread_join(ids[i], NULL) == 0);
    CHECK(memledger_dump(1) == 0);
}

static void wait_for(pid_t pid)
{
    int status;

    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* A child has its parent's settings and objects, but does not run. */
static void child(memledger_object counter)
{
    assert_fails(memledger_dump(1), "has not been run");
    CHECK(memledger_set_state(MEMLEDGER_RUN) == 0);
    assert_fails(memledger_dump(0), "another process writes its profile there");
    CHECK(SET("filename", "child.json") == 0);
    CHECK(memledger_counter_adjust(counter, 1) == 0);
    print_stats(0, MEMLEDGER_TABLE);
    fflush(stdout);
    CHECK(memledger_dump(1) == 0);
}

static void forks(void)
{
    memledger_object counter = memledger_counter(memledger_domain("d"), "c");
    pid_t pid;

    CHECK(SET("aggregate_stats", "1") == 0);
    CHECK(SET("filename", "parent.json") == 0);
    CHECK(memledger_set_state(MEMLEDGER_RUN) == 0);
    CHECK(memledger_counter_set(counter, 41) == 0);
    CHECK(memledger_dump(0) == 0);
    pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        child(counter);
        _exit(0);
    }
    wait_for(pid);
    CHECK(memledger_counter_adjust(counter, -1) == 0);
    CHECK(memledger_dump(1) == 0);
}

/* A worker drives the profilers of the run's servers. */
static void serve(void)
{
    memledger_object counter = memledger_counter(memledger_domain("d"), "served");
    int go = 0;

    printf("ready\n");
    fflush(stdout);
    while (read(STDIN_FILENO, &go, 1) == 1)
        CHECK(memledger_counter_adjust(counter, 1) == 0);
    exit(0);
}

static void servers(const char *self)
{
    const char *keys[] = {"filename", "profile_process"};
    const char *vals[] = {"server.json", "server"};
    FILE *server;
    char command[512], line[16];

    snprintf(command, sizeof(command), "mkfifo pipe && DMLC_ROLE=server %s serve <pipe", self);
    server = popen(command, "r");
    CHECK(server);
    while (access("pipe", F_OK))
        pass_ms(1);
    FILE *pipe = fopen("pipe", "w");
    CHECK(pipe && fgets(line, sizeof(line), server));
    CHECK(memledger_set_config(2, keys, vals) == 0);
    CHECK(memledger_set_process_state(MEMLEDGER_RUN, MEMLEDGER_SERVER) == 0);
    CHECK(memledger_pause_process(1, MEMLEDGER_SERVER) == 0);
    CHECK(memledger_pause_process(0, MEMLEDGER_SERVER) == 0);
    CHECK(memledger_dump_process(0, MEMLEDGER_SERVER) == 0);
    fputs("xxx", pipe);
    fclose(pipe);
    CHECK(pclose(server) == 0);
    assert_fails(memledger_dump(1), "has not been run"); /* our own */
}

static memledger_object signalled;
static int in_handler;

static void handler(int number)
{
    (void)number;
    memledger_counter_adjust(signalled, 1);
    /* Works, or says that it cannot work here: it never hangs. */
    if (memledger_dump(0) == 0)
        in_handler++;
}

static void signals(void)
{
    memledger_object counter = memledger_counter(memledger_domain("d"), "c");
    struct sigaction act = {.sa_handler = handler};
    struct timespec now, end;
    timer_t timer;
    struct itimerspec every = {.it_interval = {.tv_nsec = 200000}, .it_value = {.tv_nsec = 200000}};
    struct sigevent by = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};

    signalled = memledger_counter(memledger_domain("d"), "signalled");
    CHECK(memledger_set_state(MEMLEDGER_RUN) == 0);
    CHECK(sigaction(SIGUSR1, &act, NULL) == 0);
    CHECK(timer_create(CLOCK_MONOTONIC, &by, &timer) == 0);
    CHECK(timer_settime(timer, 0, &every, NULL) == 0);
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_nsec += 300000000;
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    do {
        char name[32];
        memledger_counter_adjust(counter, 1);
        snprintf(name, sizeof(name), "%d", rand() % 1000);
        memledger_destroy(memledger_event(name));
        if (rand() % 100 == 0)
            memledger_dump(0);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec < end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
    timer_delete(timer);
    CHECK(in_handler > 0);
    CHECK(memledger_dump(1) == 0);
}

/* The collector is killed by the driver: its parent is our parent too. */
static void orphaned(void)
{
    struct timespec start, end;

    CHECK(memledger_set_state(MEMLEDGER_RUN) == 0);
    CHECK(memledger_dump(0) == 0);
    printf("ready\n");
    fflush(stdout);
    getchar();
    clock_gettime(CLOCK_MONOTONIC, &start);
    assert_fails(memledger_dump(0), "does not answer");
    assert_fails(memledger_dump(1), "does not answer");
    clock_gettime(CLOCK_MONOTONIC, &end);
    CHECK(end.tv_sec - start.tv_sec < 10);
}

static sigjmp_buf out_of_the_call;

static void leave_the_call(int number)
{
    (void)number;
    siglongjmp(out_of_the_call, 1);
}

static void *ask_for_stats(void *unused)
{
    const char *text;

    CHECK(memledger_stats(&text, 0, MEMLEDGER_JSON, MEMLEDGER_BY_TOTAL, 0) == 0);
    return unused;
}

/* Says a word to the driver and waits until it has done its part. */
static void take_turns(const char *word)
{
    printf("%s\n", word);
    fflush(stdout);
    getchar();
}

/* The driver stops the collector, and has it go on once a handler has left the call. */
static void left(void)
{
    struct sigaction act = {.sa_handler = leave_the_call};
    int cancel_state = -1;
    pthread_t other;

    CHECK(memledger_set_state(MEMLEDGER_RUN) == 0);
    CHECK(sigaction(SIGALRM, &act, NULL) == 0);
    take_turns("ready");
    if (!sigsetjmp(out_of_the_call, 1)) {
        const char *text;

        ualarm(200000, 0);
        memledger_stats(&text, 0, MEMLEDGER_JSON, MEMLEDGER_BY_TOTAL, 0);
        CHECK(!"the handler came too late");
    }
    take_turns("left");
    CHECK(pthread_create(&other, NULL, ask_for_stats, NULL) == 0);
    CHECK(pthread_join(other, NULL) == 0);
    ask_for_stats(NULL);
    CHECK(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state) == 0);
    CHECK(cancel_state == PTHREAD_CANCEL_ENABLE);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {
        {"absent", absent},     {"all", all},       {"table", table}, {"dumps", dumps},
        {"exits", exits},       {"states", states}, {"wrong", wrong}, {"many", many},
        {"threads", threads},   {"forks", forks},   {"serve", serve}, {"signals", signals},
        {"orphaned", orphaned}, {"left", left},
    };

    if (argc == 2 && !strcmp(argv[1], "servers")) {
        servers(argv[0]);
        return 0;
    }
    for (size_t i = 0; argc == 2 && i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (!strcmp(argv[1], cases[i].name)) {
            cases[i].run();
            return 0;
        }
    }
    fprintf(stderr, "usage: profiler_api CASE\n");
    return 2;
}
