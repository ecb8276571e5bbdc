/* keeps.c: a program of twelve steps that leaks, or does not. It reports through the public
 * header.
 *
 *     keeps forever|while|refresh|nothing
 *
 * Each step makes a buffer and frees it, replaces one that it keeps, and with `forever`
 * adds three blocks to a list, with `while` to a list that holds those of four steps. With
 * `refresh` it replaces three blocks of a list that was filled before the steps, elsewhere.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include <memledger/memledger.h>

#define STEPS 12
#define KEPT 3
#define HELD 4               /* steps, with `while` */
#define ARENA 0x200000000ull /* nothing is really allocated */
#define BUFFER (ARENA)
#define REPLACED (ARENA + 0x100000)
#define LIST (ARENA + 0x200000)

static memledger_space space;

static const void *at(uintptr_t address)
{
    return (const void *)address;
}

static const void *in_list(unsigned step, unsigned i)
{
    return at(LIST + ((uintptr_t)step * KEPT + i) * 4096);
}

static void fill_list(unsigned step, const char *scope)
{
    memledger_push(scope);
    for (unsigned i = 0; i < KEPT; i++) {
        memledger_alloc(space, in_list(step, i), 1000);
        memledger_label(space, in_list(step, i), "loss", MEMLEDGER_OTHER);
    }
    memledger_pop();
}

static void drop_from_list(unsigned step)
{
    for (unsigned i = 0; i < KEPT; i++)
        memledger_free(space, in_list(step, i));
}

static void run_step(unsigned step, const char *what)
{
    memledger_step(step);
    memledger_push("work");
    memledger_alloc(space, at(BUFFER), 50000);
    memledger_free(space, at(BUFFER));
    if (step > 0)
        memledger_free(space, at(REPLACED + (step - 1) % 2 * 8192));
    memledger_alloc(space, at(REPLACED + step % 2 * 8192), 4000 + step % 2 * 100);
    memledger_pop();
    if (strcmp(what, "nothing") == 0)
        return;
    if (strcmp(what, "refresh") == 0)
        drop_from_list(step);
    fill_list(step, "history");
    if (strcmp(what, "while") == 0 && step >= HELD)
        drop_from_list(step - HELD);
}

int main(int argc, char **argv)
{
    space = memledger_space_open("cpu", MEMLEDGER_BLOCK, "own");
    if (argc > 1 && strcmp(argv[1], "refresh") == 0)
        for (unsigned step = 0; step < STEPS; step++)
            fill_list(step, "load");
    for (unsigned step = 0; step < STEPS; step++)
        run_step(step, argc > 1 ? argv[1] : "nothing");
    if (argc > 1 && strcmp(argv[1], "forever") == 0) /* at the end all is let go */
        for (unsigned step = 0; step < STEPS; step++)
            drop_from_list(step);
    return 0;
}
