/* buffers.h: the one place where this example takes memory, gives it back and
 * tells memledger about it.
 *
 * Each buffer is an array of floats with a category and a name: its purpose,
 * within a layer "<layer>.<purpose>". The count kept here is the example's own:
 * what memledger reports must equal it to the byte.
 *
 * Not thread-safe: layers allocate on the main thread, workers only compute.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef VGG19_BUFFERS_H
#define VGG19_BUFFERS_H

#include <memledger/memledger.h>
#include <stddef.h>

struct buffer {
    float *data; /* NULL: holds nothing; on a GPU the host must not follow it */
    size_t bytes;
};

/* Where the bytes come from: the host's heap, or a GPU. */
struct memory {
    const char *device; /* its name in the ledger: "cpu", "cuda:0" */
    void *context;      /* handed to the functions */
    int (*get)(void *context, size_t bytes, void **ret); /* 0 or a negative errno */
    void (*give_back)(void *context, void *data);
};

extern const struct memory host_memory;

struct buffers {
    struct memory memory;
    memledger_space space;
    const char *layer; /* prefix of the names given out; NULL: outside of layers */
    size_t live_bytes;
    size_t peak_bytes;
    size_t made; /* buffers handed out so far */
};

void buffers_init(struct buffers *buffers, const struct memory *memory);

/* What is made until the matching leave belongs to that layer. `layer` must
 * live as long; layers do not nest. */
void buffers_enter(struct buffers *buffers, const char *layer);
void buffers_leave(struct buffers *buffers);

/* Makes a buffer of `count` floats, not cleared, aligned to a cache line.
 * Returns 0, or a negative errno after saying on stderr what did not fit. The caller
 * ends it with buffer_release. */
int buffer_new(struct buffers *buffers, const char *purpose, enum memledger_category category,
               size_t count, struct buffer *ret);

/* Gives the memory back and leaves the buffer empty; an empty one is fine. */
void buffer_release(struct buffers *buffers, struct buffer *buffer);

#endif
