/* bench_training.c: reports events like those of a training run: steps that repeat the same
 * sizes, addresses and scopes.
 *
 *     bench_training [--steps N] [--work ROUNDS]
 *
 * A transformer of 24 layers with 4 operators each: forward keeps activations,
 * backward frees them in reverse and makes gradients, the optimizer uses them
 * up. About 3,300 events a step. --work puts that much work between two events,
 * half of it to half as much again and the same in every step, as a program that
 * computes would; without it they come as fast as they can.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench_common.h"
#include "training_pool.h"

enum { LAYERS = 24, OPS = 4, FORWARD_TEMPS = 3, BACKWARD_TEMPS = 3, OPTIMIZER_TEMPS = 4 };

#define TOKENS 4096u
#define WIDTH 1024u
#define F32 4u

/* In units of TOKENS * WIDTH and of WIDTH * WIDTH floats. */
static const struct op {
    const char *name;
    unsigned output, temp, weight;
} ops[OPS] = {
    {"norm", 1, 1, 0},
    {"attention", 3, 4, 4},
    {"mlp_up", 4, 1, 4},
    {"mlp_down", 1, 2, 4},
};

struct cell {
    struct block weight, moments[2];
    struct block output, saved;
    struct block weight_grad;
};

static struct cell cells[LAYERS][OPS];
static char layer_names[LAYERS][16];
static uint64_t work_rounds, work_result = 1;
static uint64_t events, events_before; /* in all, before this step */

/* An event comes next. */
static void compute(void)
{
    uint64_t position = events++ - events_before;

    if (work_rounds)
        work_result =
            bench_work(work_result, work_rounds / 2 + position * 2654435761u % work_rounds);
}

static struct block make(size_t bytes)
{
    compute();
    return training_alloc(bytes);
}

static void drop(struct block block)
{
    compute();
    training_free(block);
}

static void push(enum memledger_scope_kind kind, const char *name)
{
    compute();
    memledger_push_kind(kind, name);
}

static void pop(void)
{
    compute();
    memledger_pop();
}

static size_t output_bytes(const struct op *op)
{
    return (size_t)op->output * TOKENS * WIDTH * F32;
}

static size_t weight_bytes(const struct op *op)
{
    return op->weight ? (size_t)op->weight * WIDTH * WIDTH * F32 : WIDTH * F32;
}

/* Workspaces of one operator, each a little smaller than the last. */
static void use_temps(int count, size_t bytes)
{
    for (int i = 0; i < count; i++)
        drop(make(bytes >> i));
}

/* ---- One step --------------------------------------------------------------- */

static void forward(void)
{
    memledger_phase("forward");
    for (int layer = 0; layer < LAYERS; layer++) {
        push(MEMLEDGER_SCOPE_MODULE, layer_names[layer]);
        for (int i = 0; i < OPS; i++) {
            const struct op *op = &ops[i];
            push(MEMLEDGER_SCOPE_OPERATOR, op->name);
            cells[layer][i].output = make(output_bytes(op));
            cells[layer][i].saved = make(TOKENS * F32);
            use_temps(FORWARD_TEMPS, (size_t)op->temp * TOKENS * WIDTH * F32);
            pop();
        }
        pop();
    }
}

static struct block backward_op(struct cell *cell, const struct op *op, struct block upstream)
{
    struct block grad;

    push(MEMLEDGER_SCOPE_OPERATOR, op->name);
    grad = make(output_bytes(op));
    use_temps(BACKWARD_TEMPS, (size_t)op->temp * TOKENS * WIDTH * F32);
    cell->weight_grad = make(weight_bytes(op));
    drop(upstream);
    drop(cell->output);
    drop(cell->saved);
    pop();
    return grad;
}

static void backward(void)
{
    struct block grad = make(TOKENS * F32);

    memledger_phase("backward");
    for (int layer = LAYERS; layer-- > 0;) {
        push(MEMLEDGER_SCOPE_MODULE, layer_names[layer]);
        for (int i = OPS; i-- > 0;)
            grad = backward_op(&cells[layer][i], &ops[i], grad);
        pop();
    }
    drop(grad);
}

static void optimizer(void)
{
    memledger_phase("optimizer");
    for (int layer = 0; layer < LAYERS; layer++) {
        for (int i = 0; i < OPS; i++) {
            push(MEMLEDGER_SCOPE_OPERATOR, "adam");
            use_temps(OPTIMIZER_TEMPS, weight_bytes(&ops[i]));
            drop(cells[layer][i].weight_grad);
            pop();
        }
    }
}

/* ---- The run ------------------------------------------------------------------ */

static void make_weights(void)
{
    static const char *const moments[] = {"exp_avg", "exp_avg_sq"};

    for (int layer = 0; layer < LAYERS; layer++) {
        snprintf(layer_names[layer], sizeof(layer_names[layer]), "layer%d", layer);
        for (int i = 0; i < OPS; i++) {
            struct cell *cell = &cells[layer][i];
            char name[64];
            snprintf(name, sizeof(name), "layer%d.%s.weight", layer, ops[i].name);
            cell->weight = make(weight_bytes(&ops[i]));
            training_label(cell->weight, name, MEMLEDGER_PARAMETER);
            for (int m = 0; m < 2; m++) {
                cell->moments[m] = make(weight_bytes(&ops[i]));
                training_label(cell->moments[m], moments[m], MEMLEDGER_OPTIMIZER_STATE);
            }
            events += 3; /* the labels */
        }
    }
}

int main(int argc, char **argv)
{
    uint64_t steps = bench_argument(argc, argv, "--steps", 100);

    work_rounds = bench_argument(argc, argv, "--work", 0);
    training_pool_open();
    make_weights();
    for (uint64_t step = 0; step < steps; step++) {
        struct block input;
        events_before = events;
        memledger_step(step);
        input = make((size_t)TOKENS * 8);
        training_label(input, "tokens", MEMLEDGER_INPUT);
        forward();
        backward();
        optimizer();
        drop(input);
        events += 5; /* the step, its phases, the label */
    }
    printf("{\"recorded\": %d, \"steps\": %llu, \"reported\": %llu, ", memledger_active(),
           (unsigned long long)steps, (unsigned long long)events);
    bench_print_end();
    return 0;
}
