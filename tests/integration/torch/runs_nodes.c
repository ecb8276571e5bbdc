/* runs_nodes.c: makes nodes of autograd's graph in a module and runs them backwards; each takes a
 * block. The nodes are laid out as in
 *
 *     runs_nodes weak|counted|other
 *
 * PyTorch before 2.6, PyTorch since, or in no version that there is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "extension_api.h"
#include "memledger/memledger.h"
#include "torch_cpu_double.h"

#define NODES 20

static memledger_space space;
static unsigned ran;

struct type_info {
    const void *vtable;
    const char *name;
};

static const struct type_info type = {NULL, "N5torch8autograd14DoubleBackwardE"};

static void run_node(void *node)
{
    memledger_alloc(space, node, 64);
    ran++;
}

static const struct {
    const struct type_info *type;
    void (*run)(void *);
} vtable = {&type, run_node};

/* Words behind the vtable: the owners, then number, topology, parent, thread. */
static void lay_out(const char *layout, uint64_t words[16], uint64_t number)
{
    uint64_t numbers[] = {number, 1, 1, thread_id()};
    unsigned at = 2; /* counted */

    words[0] = (uintptr_t)&vtable.run;
    words[1] = 1;
    if (!strcmp(layout, "weak")) {
        words[1] = words[2] = (uintptr_t)words;
        at = 3;
    } else if (!strcmp(layout, "other")) {
        for (unsigned i = 2; i < 8; i++)
            words[i] = (uintptr_t)words;
        at = 8;
    }
    memcpy(words + at, numbers, sizeof(numbers));
}

int main(int argc, char **argv)
{
    static uint64_t nodes[NODES][16];
    const struct ml_extension_api *api =
        (const struct ml_extension_api *)dlsym(RTLD_DEFAULT, ML_EXTENSION_API_NAME);
    const char *layout = argc > 1 ? argv[1] : "weak";

    space = memledger_space_open("cpu", MEMLEDGER_BLOCK, "doubles");
    if (api) {
        api->torch_begin();
        api->enter_module(api->name("net", 3), api->name("Net", 3));
    }
    for (int i = 0; i < NODES; i++)
        lay_out(layout, nodes[i], next_number());
    if (api)
        api->leave_module();
    for (int i = NODES; i-- > 0;)
        evaluate(NULL, NULL, nodes[i], NULL, NULL);
    printf("%u\n", ran);
    return 0;
}
