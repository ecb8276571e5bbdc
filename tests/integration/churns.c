/* churns.c: threads that allocate, check and free blocks, make threads, load libraries and get
 * signals until standard input ends. Prints "ready" and then "ok"; whatever is wrong ends it by
 * abort. For test_attach_moments.py.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#define WORKERS 3
#define SLOTS 64
#define BYTES_MAX 5000

static atomic_bool stop;

static void check(bool ok)
{
    if (!ok)
        abort();
}

struct slot {
    unsigned char *at;
    size_t bytes;
    unsigned char value;
};

static void check_slot(const struct slot *s)
{
    for (size_t i = 0; i < s->bytes; i++)
        check(s->at[i] == s->value);
}

static void refill(struct slot *s, unsigned *seed)
{
    size_t bytes = 1 + (size_t)rand_r(seed) % BYTES_MAX;

    check_slot(s);
    if (*seed & 64) {
        s->at = realloc(s->at, bytes);
    } else {
        free(s->at);
        s->at = malloc(bytes);
    }
    check(s->at);
    s->bytes = bytes;
    s->value = (unsigned char)rand_r(seed);
    memset(s->at, s->value, bytes);
}

/* A sum in floating-point registers, and errno, are as before whatever happens in between. */
static void *allocate(void *seed_at)
{
    struct slot slots[SLOTS] = {0};
    unsigned seed = *(unsigned *)seed_at;
    double sum = 0, rounds = 0;

    while (!stop) {
        errno = 77;
        refill(&slots[(unsigned)rand_r(&seed) % SLOTS], &seed);
        check(errno == 77);
        sum += 0.5;
        rounds += 1;
    }
    check(sum == rounds / 2);
    for (int i = 0; i < SLOTS; i++)
        free(slots[i].at);
    return NULL;
}

static void *give_back(void *block)
{
    free(block);
    return NULL;
}

static void *make_threads(void *unused)
{
    (void)unused;
    while (!stop) {
        pthread_t thread;

        check(!pthread_create(&thread, NULL, give_back, malloc(1000)));
        check(!pthread_join(thread, NULL));
    }
    return NULL;
}

static void *load_libraries(void *unused)
{
    (void)unused;
    while (!stop) {
        void *library = dlopen("libutil.so.1", RTLD_NOW);

        if (library)
            dlclose(library);
        free(malloc(100));
    }
    return NULL;
}

static void on_signal(int number)
{
    (void)number;
}

static void begin_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    struct itimerval every = {{0, 1000}, {0, 1000}};

    check(!sigaction(SIGPROF, &action, NULL) && !setitimer(ITIMER_PROF, &every, NULL));
}

int main(void)
{
    static unsigned seeds[WORKERS];
    pthread_t threads[WORKERS + 2];
    char line[16];

    begin_signals();
    for (unsigned i = 0; i < WORKERS; i++) {
        seeds[i] = i;
        check(!pthread_create(&threads[i], NULL, allocate, &seeds[i]));
    }
    check(!pthread_create(&threads[WORKERS], NULL, make_threads, NULL));
    check(!pthread_create(&threads[WORKERS + 1], NULL, load_libraries, NULL));
    puts("ready");
    fflush(stdout);
    while (fgets(line, sizeof(line), stdin))
        continue;
    stop = true;
    for (int i = 0; i < WORKERS + 2; i++)
        check(!pthread_join(threads[i], NULL));
    puts("ok");
    return 0;
}
