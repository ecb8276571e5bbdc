/* buffers.h: the only place where this example allocates and frees memory and reports it to
 * memledger.
 *
 * Each buffer is an array of floats with a category and a name: its purpose, within a layer
 * "<layer>.<purpose>". The example keeps its own count here: memledger's report must equal it
 * to the byte.
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
    float *data; /* NULL: empty; on a GPU the host must not dereference it */
    size_t bytes;
};

/* Where the bytes come from: the host's heap, or a GPU. */
struct memory {
    const char *device; /* its name in the ledger: "cpu", "cuda:0" */
    void *context;      /* passed to the functions */
    int (*get)(void *context, size_t bytes, void **ret); /* 0 or a negative errno */
    void (*give_back)(void *context, void *data);
};

extern const struct memory host_memory;

struct buffers {
    struct memory memory;
    memledger_space space;
    const char *layer; /* prefix of the names; NULL: outside all layers */
    size_t live_bytes;
    size_t peak_bytes;
    size_t made; /* buffers allocated so far */
};

void buffers_init(struct buffers *buffers, const struct memory *memory);

/* Buffers allocated until the matching leave belong to that layer. `layer` must stay valid
 * until then; layers do not nest. */
void buffers_enter(struct buffers *buffers, const char *layer);
void buffers_leave(struct buffers *buffers);

/* Allocates a buffer of `count` floats, not cleared, aligned to a cache line. Returns 0, or a
 * negative errno after a message on stderr. The caller frees it with buffer_release. */
int buffer_new(struct buffers *buffers, const char *purpose, enum memledger_category category,
               size_t count, struct buffer *ret);

/* Frees the memory and leaves the buffer empty; it may already be empty. */
void buffer_release(struct buffers *buffers, struct buffer *buffer);

#endif
