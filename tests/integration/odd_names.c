/* odd_names.c: a program whose names all contain control sequences for a terminal.
 *
 *     odd_names NAME
 *
 * NAME becomes part of the names of spaces, scopes, labels, objects, marks and a thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "memledger/memledger.h"

#define BLOCKS 8
#define STEPS 4

static const char *odd;
static char blocks[STEPS][2][BLOCKS];

/* Of the last call. */
static const char *with(const char *word)
{
    static char text[900];

    snprintf(text, sizeof(text), "%s %s", odd, word);
    return text;
}

static void fill(memledger_space space, char *at)
{
    for (int i = 0; i < BLOCKS; i++) {
        memledger_alloc(space, &at[i], (size_t)(i + 1) << 20);
        memledger_label(space, &at[i], with("label"), (enum memledger_category)i);
    }
}

static void step(memledger_space space, memledger_space device, int number)
{
    memledger_step((uint64_t)number);
    memledger_phase(with("phase"));
    memledger_push_kind(MEMLEDGER_SCOPE_MODULE, with("module"));
    memledger_push_kind(MEMLEDGER_SCOPE_OPERATOR, with("operator"));
    fill(space, blocks[number][0]);
    memledger_pop();
    memledger_push(with("scope"));
    fill(device, blocks[number][1]);
    memledger_free(device, &blocks[number][1][0]);
    memledger_pop();
    memledger_pop();
}

static void *work(void *unused)
{
    memledger_object domain = memledger_domain(with("domain"));
    memledger_object task = memledger_task(domain, with("task"));
    memledger_object counter = memledger_counter(domain, with("counter"));
    memledger_space space, device;

    (void)unused;
    prctl(PR_SET_NAME, odd);
    space = memledger_space_open("cpu", MEMLEDGER_BLOCK, with("space"));
    device = memledger_space_open(with("device"), MEMLEDGER_BLOCK, with("space"));
    memledger_start(task);
    memledger_counter_set(counter, 7);
    memledger_marker(domain, with("marker"), "process");
    for (int i = 0; i < STEPS; i++)
        step(space, device, i);
    memledger_stop(task);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;

    if (argc != 2)
        return 2;
    odd = argv[1];
    if (pthread_create(&thread, NULL, work, NULL) || pthread_join(thread, NULL))
        return 1;
    return 0;
}
