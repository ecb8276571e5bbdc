/* workers.c: threads that sleep until there is a loop to share. They run until the program
 * ends, so that a profiler sees a few threads rather than a hundred short-lived ones.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "workers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

struct workers {
    pthread_mutex_t lock; /* guards everything except `next` */
    pthread_cond_t start;
    pthread_cond_t done;
    unsigned long round; /* one more for each loop */
    int busy;            /* threads still in this round */
    bool stop;
    workers_task *task;
    const void *job;
    size_t count;
    atomic_size_t next; /* first item not taken yet; pairs with nothing: the lock
                           orders the rounds, items are independent */
    int thread_count;
    pthread_t threads[];
};

static void take_items(struct workers *workers)
{
    size_t index;

    while ((index = atomic_fetch_add_explicit(&workers->next, 1, memory_order_relaxed)) <
           workers->count)
        workers->task(workers->job, index);
}

/* Waits for a round after `seen`. False when there will be none. */
static bool wait_for_round(struct workers *workers, unsigned long *seen)
{
    bool go;

    pthread_mutex_lock(&workers->lock);
    while (workers->round == *seen && !workers->stop)
        pthread_cond_wait(&workers->start, &workers->lock);
    *seen = workers->round;
    go = !workers->stop;
    pthread_mutex_unlock(&workers->lock);
    return go;
}

static void finish_round(struct workers *workers)
{
    pthread_mutex_lock(&workers->lock);
    if (--workers->busy == 0)
        pthread_cond_signal(&workers->done);
    pthread_mutex_unlock(&workers->lock);
}

static void *work(void *arg)
{
    struct workers *workers = arg;
    unsigned long seen = 0;

    while (wait_for_round(workers, &seen)) {
        take_items(workers);
        finish_round(workers);
    }
    return NULL;
}

struct workers *workers_new(int threads)
{
    size_t helpers = threads > 1 ? (size_t)threads - 1 : 0;
    struct workers *workers = calloc(1, sizeof(*workers) + helpers * sizeof(pthread_t));

    if (!workers)
        return NULL;
    pthread_mutex_init(&workers->lock, NULL);
    pthread_cond_init(&workers->start, NULL);
    pthread_cond_init(&workers->done, NULL);
    for (size_t i = 0; i < helpers; i++) {
        if (pthread_create(&workers->threads[i], NULL, work, workers))
            break;
        workers->thread_count++;
    }
    return workers;
}

void workers_free(struct workers *workers)
{
    if (!workers)
        return;
    pthread_mutex_lock(&workers->lock);
    workers->stop = true;
    pthread_cond_broadcast(&workers->start);
    pthread_mutex_unlock(&workers->lock);
    for (int i = 0; i < workers->thread_count; i++)
        pthread_join(workers->threads[i], NULL);
    pthread_cond_destroy(&workers->done);
    pthread_cond_destroy(&workers->start);
    pthread_mutex_destroy(&workers->lock);
    free(workers);
}

void workers_run(struct workers *workers, size_t count, workers_task *task, const void *job)
{
    pthread_mutex_lock(&workers->lock);
    workers->task = task;
    workers->job = job;
    workers->count = count;
    atomic_store_explicit(&workers->next, 0, memory_order_relaxed);
    workers->busy = workers->thread_count;
    workers->round++;
    pthread_cond_broadcast(&workers->start);
    pthread_mutex_unlock(&workers->lock);

    take_items(workers);

    pthread_mutex_lock(&workers->lock);
    while (workers->busy)
        pthread_cond_wait(&workers->done, &workers->lock);
    pthread_mutex_unlock(&workers->lock);
}
