/* standin_graphs.c: graphs, of which only memory and kernels matter here.
 *
 * A memory node has its address from the start and its memory from the launch on.
 * As measured on an H200: a device keeps the memory of its graphs until it is
 * trimmed; it grows in steps of 32 MiB.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "standin_driver.h"

#include <stdlib.h>
#include <string.h>

#define STEP_BYTES (32 * STANDIN_MIB)

enum node_type {
    KERNEL_NODE = 0,
    EMPTY_NODE = 5,
    ALLOC_NODE = 10,
    FREE_NODE = 11,
};

struct node {
    struct node *next;
    enum node_type type;
    int ordinal;
    standin_address address; /* of memory nodes */
    uint64_t bytes;
    struct standin_function *function; /* of kernel nodes */
};

/* Graphs and what is made of them to be launched are the same here. */
struct standin_graph {
    struct node *first, **last;
};

enum attribute { USED_CURRENT, USED_HIGH, RESERVED_CURRENT, RESERVED_HIGH, ATTRIBUTES };

static uint64_t books[STANDIN_DEVICES_MAX][ATTRIBUTES];

struct standin_graph *standin_graph_new(void)
{
    struct standin_graph *graph = calloc(1, sizeof *graph);
    if (!graph)
        abort();
    graph->last = &graph->first;
    return graph;
}

static struct node *add(struct standin_graph *graph, const struct node *node)
{
    struct node *copy = malloc(sizeof *copy);
    if (!copy)
        abort();
    *copy = *node;
    copy->next = NULL;
    *graph->last = copy;
    graph->last = &copy->next;
    return copy;
}

/* Addresses of memory nodes stay taken for good: a graph, its copies and blocks that
 * outlive them all may use them. */
static struct standin_graph *copy_of(const struct standin_graph *graph)
{
    struct standin_graph *copy = standin_graph_new();
    for (const struct node *node = graph->first; node; node = node->next)
        add(copy, node);
    return copy;
}

static void end(struct standin_graph *graph)
{
    while (graph->first) {
        struct node *node = graph->first;
        graph->first = node->next;
        free(node);
    }
    free(graph);
}

/* ---- Memory --------------------------------------------------------------------------- */

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void trim(int ordinal)
{
    uint64_t *book = books[ordinal];
    uint64_t needed = standin_round_up(book[USED_CURRENT], STEP_BYTES);
    if (needed >= book[RESERVED_CURRENT])
        return;
    standin_give(ordinal, book[RESERVED_CURRENT] - needed);
    book[RESERVED_CURRENT] = needed;
}

void standin_graphs_context_end(int ordinal)
{
    trim(ordinal);
}

void standin_graph_end(struct standin_block *block)
{
    books[block->ordinal][USED_CURRENT] -= block->bytes;
}

static int launch_alloc(const struct node *node, struct standin_context *context)
{
    uint64_t *book = books[node->ordinal];
    uint64_t used = book[USED_CURRENT] + node->bytes;
    uint64_t reserved = larger(book[RESERVED_CURRENT], standin_round_up(used, STEP_BYTES));
    if (standin_block_at(node->address)) /* not freed since the last launch */
        return CUDA_ERROR_INVALID_VALUE;
    int status = standin_take(node->ordinal, reserved - book[RESERVED_CURRENT]);
    if (status)
        return status;
    book[USED_CURRENT] = used;
    book[USED_HIGH] = larger(book[USED_HIGH], used);
    book[RESERVED_CURRENT] = reserved;
    book[RESERVED_HIGH] = larger(book[RESERVED_HIGH], reserved);
    standin_block_add(&(struct standin_block){
        .kind = STANDIN_GRAPH,
        .address = node->address,
        .bytes = node->bytes,
        .ordinal = node->ordinal,
        .context = context,
    });
    return CUDA_SUCCESS;
}

static int launch_node(const struct node *node, struct standin_context *context)
{
    struct standin_block *block;
    switch (node->type) {
    case KERNEL_NODE:
        return node->function ? standin_function_load(node->function, context) : CUDA_SUCCESS;
    case ALLOC_NODE: return launch_alloc(node, context);
    case FREE_NODE:
        block = standin_block_at(node->address);
        if (block)
            standin_block_end(block);
        return CUDA_SUCCESS;
    default: return CUDA_SUCCESS;
    }
}

int standin_graph_add_memory(struct standin_graph *graph, int ordinal, uint64_t bytes,
                             standin_address *address)
{
    struct node node = {.type = FREE_NODE, .address = *address};
    if (bytes) {
        node.type = ALLOC_NODE;
        node.ordinal = ordinal;
        node.bytes = bytes;
        node.address = *address = standin_map(standin_round_up(bytes, STANDIN_PAGE_BYTES));
    }
    add(graph, &node);
    return CUDA_SUCCESS;
}

STANDIN_ENTRY(cuDeviceGraphMemTrim, int device)
{
    int status = standin_lock_device(device);
    if (status)
        return status;
    trim(device);
    return standin_unlock(CUDA_SUCCESS);
}

STANDIN_ENTRY(cuDeviceGetGraphMemAttribute, int device, unsigned attribute, uint64_t *ret_value)
{
    int status = standin_lock_device(device);
    if (status)
        return status;
    if (attribute >= ATTRIBUTES)
        return standin_unlock(CUDA_ERROR_INVALID_VALUE);
    *ret_value = books[device][attribute];
    return standin_unlock_late(CUDA_SUCCESS);
}

STANDIN_ENTRY(cuDeviceSetGraphMemAttribute, int device, unsigned attribute, const uint64_t *value)
{
    (void)value; /* to be set to 0 only: begins anew with what is there now */
    int status = standin_lock_device(device);
    if (status)
        return status;
    if (attribute == USED_HIGH || attribute == RESERVED_HIGH)
        books[device][attribute] = books[device][attribute - 1];
    else
        status = CUDA_ERROR_INVALID_VALUE;
    return standin_unlock(status);
}

/* ---- Building ---------------------------------------------------------------------------- */

struct alloc_params {
    int type, handle_types;
    struct standin_place place;
    unsigned char unused[72]; /* the rest of a pool's properties */
    const void *accesses;
    size_t access_count;
    size_t bytes;
    standin_address address;
};

/* Of cuGraphAddNode: a node of any type. */
struct node_params {
    int type;
    int reserved[3];
    union {
        struct alloc_params alloc;
        standin_address free;
        struct standin_function *function;
    };
};

STANDIN_ENTRY(cuGraphCreate, struct standin_graph **ret_graph, unsigned flags)
{
    (void)flags;
    *ret_graph = standin_graph_new();
    return CUDA_SUCCESS;
}

STANDIN_ENTRY(cuGraphDestroy, struct standin_graph *graph)
{
    end(graph);
    return CUDA_SUCCESS;
}

STANDIN_ENTRY(cuGraphClone, struct standin_graph **ret_graph, const struct standin_graph *graph)
{
    *ret_graph = copy_of(graph);
    return CUDA_SUCCESS;
}

STANDIN_ENTRY(cuGraphAddMemAllocNode, struct node **ret_node, struct standin_graph *graph,
              void *after, size_t after_count, struct alloc_params *params)
{
    (void)after;
    (void)after_count;
    int status = standin_lock_device(params->place.number);
    if (status)
        return status;
    if (!params->bytes)
        return standin_unlock(CUDA_ERROR_INVALID_VALUE);
    struct node **link = graph->last;
    standin_graph_add_memory(graph, params->place.number, params->bytes, &params->address);
    *ret_node = *link;
    return standin_unlock(CUDA_SUCCESS);
}

STANDIN_ENTRY(cuGraphAddMemFreeNode, struct node **ret_node, struct standin_graph *graph,
              void *after, size_t after_count, standin_address address)
{
    (void)after;
    (void)after_count;
    *ret_node = add(graph, &(struct node){.type = FREE_NODE, .address = address});
    return CUDA_SUCCESS;
}

/* The parameters of a kernel begin with its function. */
STANDIN_ENTRY(cuGraphAddKernelNode_v2, struct node **ret_node, struct standin_graph *graph,
              void *after, size_t after_count, struct standin_function *const *params)
{
    (void)after;
    (void)after_count;
    *ret_node = add(graph, &(struct node){.type = KERNEL_NODE, .function = *params});
    return CUDA_SUCCESS;
}

STANDIN_ENTRY(cuGraphAddEmptyNode, struct node **ret_node, struct standin_graph *graph)
{
    *ret_node = add(graph, &(struct node){.type = EMPTY_NODE});
    return CUDA_SUCCESS;
}

STANDIN_ENTRY(cuGraphAddChildGraphNode, struct node **ret_node, struct standin_graph *graph,
              void *after, size_t after_count, const struct standin_graph *child)
{
    (void)after;
    (void)after_count;
    for (const struct node *node = child->first; node; node = node->next)
        add(graph, node);
    return cuGraphAddEmptyNode(ret_node, graph);
}

STANDIN_ENTRY(cuGraphAddNode, struct node **ret_node, struct standin_graph *graph, void *after,
              size_t after_count, struct node_params *params)
{
    switch (params->type) {
    case KERNEL_NODE:
        return cuGraphAddKernelNode_v2(ret_node, graph, after, after_count, &params->function);
    case ALLOC_NODE:
        return cuGraphAddMemAllocNode(ret_node, graph, after, after_count, &params->alloc);
    case FREE_NODE: return cuGraphAddMemFreeNode(ret_node, graph, after, after_count, params->free);
    default: return cuGraphAddEmptyNode(ret_node, graph);
    }
}

STANDIN_ENTRY(cuGraphAddNode_v2, struct node **ret_node, struct standin_graph *graph, void *after,
              void *edges, size_t after_count, struct node_params *params)
{
    (void)edges;
    return cuGraphAddNode(ret_node, graph, after, after_count, params);
}

STANDIN_ENTRY(cuGraphMemAllocNodeGetParams, const struct node *node, struct alloc_params *ret)
{
    memset(ret, 0, sizeof *ret);
    ret->place = (struct standin_place){STANDIN_ON_DEVICE, node->ordinal};
    ret->bytes = node->bytes;
    ret->address = node->address;
    return CUDA_SUCCESS;
}

STANDIN_ENTRY(cuGraphMemFreeNodeGetParams, const struct node *node, standin_address *ret_address)
{
    *ret_address = node->address;
    return CUDA_SUCCESS;
}

STANDIN_ENTRY(cuGraphNodeGetType, const struct node *node, int *ret_type)
{
    *ret_type = (int)node->type;
    return CUDA_SUCCESS;
}

STANDIN_ENTRY(cuGraphGetNodes, const struct standin_graph *graph, struct node **ret_nodes,
              size_t *count)
{
    size_t n = 0;
    for (struct node *node = graph->first; node; node = node->next, n++) {
        if (ret_nodes && n < *count)
            ret_nodes[n] = node;
    }
    *count = n;
    return CUDA_SUCCESS;
}

/* ---- Launching ------------------------------------------------------------------------------ */

STANDIN_ENTRY(cuGraphInstantiateWithFlags, struct standin_graph **ret_exec,
              const struct standin_graph *graph, unsigned long long flags)
{
    (void)flags;
    *ret_exec = copy_of(graph);
    return CUDA_SUCCESS;
}

STANDIN_ENTRY(cuGraphExecDestroy, struct standin_graph *exec)
{
    end(exec);
    return CUDA_SUCCESS;
}

STANDIN_ENTRY(cuGraphLaunch, const struct standin_graph *exec, void *stream)
{
    struct standin_context *context;
    (void)stream;
    int status = standin_lock_context(&context);
    if (status)
        return status;
    for (const struct node *node = exec->first; node && !status; node = node->next)
        status = launch_node(node, context);
    return standin_unlock(status);
}
