/* heap_threads.c: many short-lived threads, some side by side, blocks freed by another thread
 * than their allocator, and during a thread's exit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <pthread.h>

#include "heap_expect.h"

#define SHORT_LIVED 1000
#define AT_ONCE 8
#define ROUNDS 4000

static pthread_key_t key;

static void *short_lived(void *unused)
{
    (void)unused;
    errno = 77; /* the first record of a thread takes the long way */
    free(used(malloc(71001)));
    CHECK(errno == 77);
    pthread_setspecific(key, used(malloc(71002)));
    return used(malloc(71003));
}

static void *busy(void *slots)
{
    void **mine = slots;

    for (int i = 0; i < ROUNDS; i++) {
        free(mine[i % 16]);
        mine[i % 16] = used(malloc(71004));
    }
    return NULL;
}

static void run_short_lived(void)
{
    for (int i = 0; i < SHORT_LIVED; i++) {
        pthread_t thread;
        void *block;
        CHECK(!pthread_create(&thread, NULL, short_lived, NULL));
        CHECK(!pthread_join(thread, &block));
        free(block);
    }
}

static void run_at_once(void)
{
    static void *slots[AT_ONCE][16];
    pthread_t threads[AT_ONCE];

    for (int i = 0; i < AT_ONCE; i++)
        CHECK(!pthread_create(&threads[i], NULL, busy, slots[i]));
    for (int i = 0; i < AT_ONCE; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < AT_ONCE; i++) {
        for (int j = 0; j < 16; j++)
            free(slots[i][j]);
    }
}

int main(void)
{
    pthread_key_create(&key, free);
    run_short_lived();
    run_at_once();
    expect(71001, SHORT_LIVED, SHORT_LIVED);
    expect(71002, SHORT_LIVED, SHORT_LIVED);
    expect(71003, SHORT_LIVED, SHORT_LIVED);
    expect(71004, (long)AT_ONCE * ROUNDS, (long)AT_ONCE * ROUNDS);
    return 0;
}
