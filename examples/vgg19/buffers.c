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

void buffers_init(struct buffers *buffers)
{
    *buffers = (struct buffers){
        .space = memledger_space_open("cpu", MEMLEDGER_BLOCK, "vgg19"),
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

    snprintf(name, sizeof(name), "%s%s%s", buffers->layer ? buffers->layer : "",
             buffers->layer ? "." : "", purpose);
    if (posix_memalign(&data, CACHE_LINE_BYTES, bytes)) {
        fprintf(stderr, "vgg19: no memory for %s (%.1f MiB); try a smaller --size\n", name,
                (double)bytes / (1 << 20));
        return -ENOMEM;
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
    free(buffer->data);
    buffers->live_bytes -= buffer->bytes;
    *buffer = (struct buffer){0};
}
