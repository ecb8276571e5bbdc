/* trains.c: a program that trains, as far as memory goes: a model of nested modules, parameters
 * that exist before it is called, three steps of forward, backward and an optimizer. It reports
 * through the public header.
 *
 *     trains LAYERS [wait]
 *
 * With `wait` it says before and after each phase where it is, and waits for a line on its input;
 * and the end of its last step begins one more, as in a loop that marks the ends. A number in the
 * line is one of passes that it then does without waiting, before it says the same again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <memledger/memledger.h>

#define KIB 1024
#define STEPS 3
#define ARENA 0x100000000 /* nothing is really allocated */

static memledger_space space;
static unsigned layers;

static const void *place(unsigned kind, unsigned layer)
{
    return (const void *)(uintptr_t)(ARENA + ((uintptr_t)kind * 4096 + layer) * 1024 * KIB);
}

enum { WEIGHT, GRADIENT, STATE, OUTPUT, WORKSPACE, BACKWARD };

static bool waits;

static void pass_quickly(void);

static void pause_at(const char *where, unsigned step)
{
    unsigned long passes = 1;
    char line[16];

    while (waits && passes > 0) {
        printf("%s %u\n", where, step);
        fflush(stdout);
        if (!fgets(line, sizeof(line), stdin))
            exit(1);
        passes = strtoul(line, NULL, 10);
        waits = false;
        for (unsigned long i = 0; i < passes; i++)
            pass_quickly();
        waits = true;
    }
}

static const char *name(const char *format, unsigned layer)
{
    static char text[64];

    snprintf(text, sizeof(text), format, layer);
    return text;
}

static void make_weights(void)
{
    for (unsigned i = 0; i < layers; i++) {
        memledger_alloc(space, place(WEIGHT, i), 100 * KIB);
        memledger_label(space, place(WEIGHT, i), name("layers.%u.fc.weight", i),
                        MEMLEDGER_PARAMETER);
    }
}

static void forward(void)
{
    memledger_phase("forward");
    memledger_push_kind(MEMLEDGER_SCOPE_MODULE, "Net");
    for (unsigned i = 0; i < layers; i++) {
        memledger_push_kind(MEMLEDGER_SCOPE_MODULE, name("layers.%u", i));
        memledger_push_kind(MEMLEDGER_SCOPE_MODULE, name("layers.%u.fc", i));
        memledger_alloc(space, place(WORKSPACE, i), 7 * KIB);
        memledger_alloc(space, place(OUTPUT, i), 30 * KIB);
        memledger_free(space, place(WORKSPACE, i));
        memledger_pop();
        memledger_pop();
    }
    memledger_pop();
}

static void backward(unsigned step)
{
    memledger_phase("backward");
    memledger_push_kind(MEMLEDGER_SCOPE_PHASE, "backward");
    memledger_push_kind(MEMLEDGER_SCOPE_MODULE, "Net");
    for (unsigned i = layers; i-- > 0;) {
        memledger_push_kind(MEMLEDGER_SCOPE_MODULE, name("layers.%u.fc", i));
        memledger_alloc(space, place(BACKWARD, i), 30 * KIB);
        if (step == 0)
            memledger_alloc(space, place(GRADIENT, i), 100 * KIB);
        memledger_free(space, place(OUTPUT, i));
        memledger_free(space, place(BACKWARD, i));
        memledger_pop();
    }
    pause_at("gradients", step);
    memledger_pop();
    memledger_pop();
    memledger_phase("");
    for (unsigned i = 0; i < layers && step == 0; i++)
        memledger_label(space, place(GRADIENT, i), name("layers.%u.fc.weight", i),
                        MEMLEDGER_GRADIENT);
}

static void optimize(unsigned step)
{
    memledger_phase("optimizer");
    memledger_push_kind(MEMLEDGER_SCOPE_PHASE, "optimizer");
    for (unsigned i = 0; i < layers && step == 0; i++) {
        memledger_alloc(space, place(STATE, i), 100 * KIB);
        memledger_label(space, place(STATE, i), name("layers.%u.fc.weight.momentum", i),
                        MEMLEDGER_OPTIMIZER_STATE);
    }
    memledger_pop();
    memledger_phase("");
}

static void pass_quickly(void)
{
    forward();
    backward(1);
    optimize(1);
}

int main(int argc, char **argv)
{
    layers = argc > 1 ? (unsigned)atoi(argv[1]) : 2;
    waits = argc > 2;
    space = memledger_space_open("cpu", MEMLEDGER_BLOCK, "tensors");
    make_weights();
    for (unsigned step = 0; step < STEPS; step++) {
        memledger_step(step);
        pause_at("begin", step);
        forward();
        pause_at("forward", step);
        backward(step);
        pause_at("backward", step);
        optimize(step);
        pause_at("optimizer", step);
    }
    if (waits)
        memledger_step(STEPS);
    return 0;
}
