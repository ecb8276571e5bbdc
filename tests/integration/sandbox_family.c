/* sandbox_family.c: filters of some threads and processes, and their effect on the others.
 *
 *     sandbox_family SCENE [FILTER]
 *
 * The scenes are the functions below. FILTER is a word of sandbox_filters.h. Programs that are
 * started are this one, with the scene "work": it has BLOCKS blocks allocated and freed, as
 * reported to memledger.
 *
 * Ends with status 3 and "done", unless it is killed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "memledger/memledger.h"
#include "sandbox_filters.h"

#define BLOCKS 100
#define CROWD 12     /* more threads than the first ring set has rings for */
#define REFUSED 500  /* filters, and more until another one is installed */
#define UNDER_WAY 10 /* of these, before the other one is installed */

static const char *self;
static memledger_space space;

/* ---- Parts of scenes ------------------------------------------------------- */

static void check(bool ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "%s failed: %s\n", what, strerror(errno));
    _exit(1);
}

static void work(unsigned count)
{
    while (count--) {
        static __thread char block;
        memledger_alloc(space, &block, 1);
        memledger_free(space, &block);
    }
}

static long install(const char *word, unsigned flags)
{
    char text[256];
    struct sock_fprog filter;

    snprintf(text, sizeof(text), "%s", word);
    filter = filter_of(text);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (flags)
        return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &filter);
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0);
}

static void become_worker(void)
{
    execl(self, self, "work", NULL);
    _exit(9);
}

static void await(pid_t child, int status)
{
    int ended;

    check(child > 0 && waitpid(child, &ended, 0) == child, "waitpid");
    if (ended == status << 8)
        return;
    fprintf(stderr, "a child ended with %#x\n", (unsigned)ended);
    _exit(1);
}

static void nap_ms(unsigned ms)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000L * ms}, NULL);
}

static pthread_barrier_t all_there;

static void *work_and_wait(void *unused)
{
    (void)unused;
    work(BLOCKS);
    pthread_barrier_wait(&all_there);
    return NULL;
}

static void work_in_crowd(void)
{
    pthread_t threads[CROWD];

    pthread_barrier_init(&all_there, NULL, CROWD);
    for (int i = 0; i < CROWD; i++)
        check(!pthread_create(&threads[i], NULL, work_and_wait, NULL), "pthread_create");
    for (int i = 0; i < CROWD; i++)
        pthread_join(threads[i], NULL);
}

/* ---- Scenes ---------------------------------------------------------------- */

static void *install_ptrace(void *unused)
{
    (void)unused;
    work(1);
    check(!install("deny:ptrace", 0), "a filter that does no harm");
    return NULL;
}

/* A thread has a filter that does no harm. The main thread, which has none, forks; the child
 * has one that kills. The numbers are the same. */
static void thread_then_child(const char *filter)
{
    pthread_t thread;
    pid_t child;

    check(!pthread_create(&thread, NULL, install_ptrace, NULL), "pthread_create");
    pthread_join(thread, NULL);
    child = fork();
    if (!child) {
        check(!install(filter, 0), "a filter");
        become_worker();
    }
    await(child, 3);
}

static _Atomic bool installed;
static _Atomic unsigned refused;

static void *install_bad_ones(void *unused)
{
    (void)unused;
    work(1);
    for (int i = 0; i < REFUSED || !installed; i++) {
        install("bad", 0);
        refused++;
    }
    return NULL;
}

/* One thread asks for filters that are refused while another gets one that kills. */
static void at_once(const char *filter)
{
    pthread_t thread;

    check(!pthread_create(&thread, NULL, install_bad_ones, NULL), "pthread_create");
    while (refused < UNDER_WAY)
        nap_ms(1);
    check(!install(filter, 0), "a filter");
    installed = true;
    pthread_join(thread, NULL);
    work_in_crowd();
}

static void spin(unsigned long times)
{
    for (volatile unsigned long i = 0; i < times; i++)
        continue;
}

/* Some begin at once, others one after the other, and none ends: that takes system calls. */
static void *work_for_ever(void *number)
{
    unsigned long later = (uintptr_t)number;

    pthread_barrier_wait(&all_there);
    spin(later < 3 ? 0 : 100000 * later);
    for (;;)
        work(1000);
    return NULL;
}

/* All threads get a filter at once, while some wait for room and others get their rings. */
static void all_threads(const char *filter)
{
    pthread_t thread;

    pthread_barrier_init(&all_there, NULL, CROWD + 1);
    for (uintptr_t i = 0; i < CROWD; i++)
        check(!pthread_create(&thread, NULL, work_for_ever, (void *)i), "pthread_create");
    pthread_barrier_wait(&all_there);
    spin(1500000);
    check(!install(filter, SECCOMP_FILTER_FLAG_TSYNC), "a filter for all threads");
    spin(10000000);
    if (write(STDOUT_FILENO, "done\n", 5) < 0)
        _exit(7);
    _exit(3);
}

/* The child shares its parent's memory until it becomes another program. */
static void in_vfork(const char *filter)
{
    pid_t child = vfork();

    if (!child) {
        if (!strcmp(filter, "counter") ? prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0)
                                       : (int)install(filter, 0))
            _exit(8);
        if (!strcmp(filter, "counter"))
            work(1);
        _exit(0);
    }
    await(child, 0);
    child = vfork();
    if (!child) {
        if (strcmp(filter, "counter") != 0 && install(filter, 0))
            _exit(8);
        become_worker();
    }
    await(child, 3);
    work(BLOCKS);
}

/* A process with a filter that does no harm ends before its child becomes a program. It says that
 * this process has ended, and goes on at the next line: meanwhile the collector may notice. */
static void daemon_like(const char *filter)
{
    pid_t parent, orphan;
    int fds[2], status;
    char byte;

    check(!prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) && !pipe(fds), "preparing");
    parent = fork();
    if (!parent) {
        work(BLOCKS);
        check(!install(filter, 0), "a filter");
        orphan = fork();
        if (!orphan) {
            close(fds[1]);
            if (read(fds[0], &byte, 1) < 0)
                _exit(7);
            become_worker();
        }
        _exit(orphan < 0);
    }
    await(parent, 0);
    check(write(STDOUT_FILENO, "ended\n", 6) == 6 && read(STDIN_FILENO, &byte, 1) >= 0, "a line");
    close(fds[1]);
    check(waitpid(-1, &status, 0) > 0 && status == 3 << 8, "the orphan");
}

/* A child that has no descriptor left, and whose own child has. */
static void no_descriptors(const char *unused)
{
    pid_t child;

    (void)unused;
    child = fork();
    if (!child) {
        int last = 0, fd;

        setrlimit(RLIMIT_NOFILE, &(struct rlimit){16, 16});
        while ((fd = dup(0)) >= 0)
            last = fd;
        child = fork();
        if (!child) {
            work(BLOCKS);
            close(last);
            close(last - 1);
            close(last - 2);
            child = fork();
            if (!child) {
                work(BLOCKS);
                _exit(0);
            }
            await(child, 0);
            _exit(0);
        }
        await(child, 0);
        _exit(0);
    }
    await(child, 0);
}

static void work_only(const char *unused)
{
    (void)unused;
    work(BLOCKS);
}

/* ---- All ------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*play)(const char *filter);
} scenes[] = {
    {"thread-then-child", thread_then_child},
    {"at-once", at_once},
    {"all-threads", all_threads},
    {"vfork", in_vfork},
    {"daemon", daemon_like},
    {"no-descriptors", no_descriptors},
    {"work", work_only},
};

int main(int argc, char **argv)
{
    self = argv[0];
    space = memledger_space_open("cpu", MEMLEDGER_BLOCK, "sandboxed");
    work(1);
    for (size_t i = 0; argc > 1 && i < COUNT(scenes); i++) {
        if (!strcmp(scenes[i].name, argv[1])) {
            scenes[i].play(argc > 2 ? argv[2] : "");
            if (write(STDOUT_FILENO, "done\n", 5) < 0)
                return 7;
            return 3;
        }
    }
    return 2;
}
