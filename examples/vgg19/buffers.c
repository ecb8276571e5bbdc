/* buffers.c: allocate, report, label and count in one step, so that no buffer
 * of the network can exist without its name in the ledger.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "buffers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { CACHE_LINE_BYTES = 64, NAME_BYTES = 64 };

static int host_get(void *context, size_t bytes, void **ret)
{
    (void)context;
    return posix_memalign(ret, CACHE_LINE_BYTES, bytes) ? -ENOMEM : 0;
}

static void host_give_back(void *context, void *data)
{
    (void)context;
    free(data);
}

const struct memory host_memory = {
    .device = "cpu",
    .get = host_get,
    .give_back = host_give_back,
};

void buffers_init(struct buffers *buffers, const struct memory *memory)
{
    *buffers = (struct buffers){
        .memory = *memory,
        .space = memledger_space_open(memory->device, MEMLEDGER_BLOCK, "vgg19"),
    };
}

void buffers_enter(struct buffers *buffers, const char *layer)
{
    buffers->layer = layer;
    memledger_push_kind(MEMLEDGER_SCOPE_MODULE, layer);
}

void buffers_leave(struct buffers *buffers)
{
    memledger_pop();
    buffers->layer = NULL;
}

static void count_new(struct buffers *buffers, size_t bytes)
{
    buffers->made++;
    buffers->live_bytes += bytes;
    if (buffers->live_bytes > buffers->peak_bytes)
        buffers->peak_bytes = buffers->live_bytes;
}

int buffer_new(struct buffers *buffers, const char *purpose, enum memledger_category category,
               size_t count, struct buffer *ret)
{
    size_t bytes = count * sizeof(float);
    char name[NAME_BYTES];
    void *data;
    int rc;

    snprintf(name, sizeof(name), "%s%s%s", buffers->layer ? buffers->layer : "",
             buffers->layer ? "." : "", purpose);
    rc = buffers->memory.get(buffers->memory.context, bytes, &data);
    if (rc) {
        fprintf(stderr,
                "vgg19: no memory on %s for %s (%.1f MiB); try a smaller --size or --batch\n",
                buffers->memory.device, name, (double)bytes / (1 << 20));
        return rc;
    }
    memledger_alloc(buffers->space, data, bytes);
    memledger_label(buffers->space, data, name, category);
    count_new(buffers, bytes);
    *ret = (struct buffer){.data = data, .bytes = bytes};
    return 0;
}

void buffer_release(struct buffers *buffers, struct buffer *buffer)
{
    if (!buffer->data)
        return;
    memledger_free(buffers->space, buffer->data);
    buffers->memory.give_back(buffers->memory.context, buffer->data);
    buffers->live_bytes -= buffer->bytes;
    *buffer = (struct buffer){0};
}
