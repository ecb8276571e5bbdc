/* pickle_machine.h: reads a Python pickle as data, never as code.
 *
 * Protocols 2 to 5, and only the opcodes that build numbers, texts, bytes, lists, dicts, tuples
 * and sets. An opcode that names a class or calls something is rejected, with its name and
 * offset.
 *
 * The machine does not recurse and reads its source once. Memory is eight bytes for each memo
 * entry, sixteen for each container and eight for each of its items. A caller can take over
 * containers that it recognises, in its own form, and their items are then not kept, so that
 * ten million entries of a trace fit into memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_PICKLE_MACHINE_H
#define ML_PICKLE_MACHINE_H

#include "arena.h"
#include "import_source.h"
#include "intern.h"
#include "pickle_value.h"
#include "vec.h"

/* The longest text, in bytes: a file with a longer one has another format. */
#define ML_PICKLE_TEXT_MAX (16u << 20)

struct ml_pickle_machine;

/* Called when items are added to a container, before they are stored there. It takes them by
 * setting the node's kind to ML_PICKLE_TAKEN and filling in its own handle, len and sort. A
 * dict is offered once, with its first items if these are more than one pair; a list that was
 * taken is offered again with each further batch.
 * @return 1 taken, 0 not, negative with the reason */
struct ml_pickle_taker {
    int (*dict)(void *ctx, struct ml_pickle_node *node, const ml_pickle_value *pairs, size_t count,
                struct ml_error *err);
    int (*list)(void *ctx, struct ml_pickle_node *node, const ml_pickle_value *items, size_t count,
                struct ml_error *err);
    void *ctx;
};

struct ml_pickle_machine {
    struct ml_import_source *source;
    const struct ml_pickle_taker *taker; /* NULL: everything is kept */
    struct ml_intern texts;
    ML_VEC(uint64_t) numbers;
    ML_VEC(struct ml_pickle_node) nodes;
    ML_VEC(ml_pickle_value) stack;
    ML_VEC(size_t) marks; /* heights of the stack */
    ML_VEC(ml_pickle_value) memo;
    struct ml_arena items;
    uint64_t op_offset; /* of the current opcode */
};

/* Interns no texts itself, so that the caller can give known keys known numbers with
 * ml_pickle_text before ml_pickle_read. */
void ml_pickle_init(struct ml_pickle_machine *m, struct ml_import_source *source,
                    const struct ml_pickle_taker *taker);
void ml_pickle_release(struct ml_pickle_machine *m);

/* The number of a text. @return negative when out of memory */
int64_t ml_pickle_text(struct ml_pickle_machine *m, const char *text);

/* Reads the pickle, up to its last opcode. @return 0 with the value */
int ml_pickle_read(struct ml_pickle_machine *m, ml_pickle_value *ret, struct ml_error *err);

/* ---- What was read -------------------------------------------------------- */

/* An integer or a boolean. @return whether it is one and fits 64 bits */
bool ml_pickle_int(const struct ml_pickle_machine *m, ml_pickle_value value, int64_t *ret);

/* NULL when it is not a container. Valid until the machine continues. */
struct ml_pickle_node *ml_pickle_node(const struct ml_pickle_machine *m, ml_pickle_value value);

/* NUL-terminated; NULL when it is not a text. */
const char *ml_pickle_chars(const struct ml_pickle_machine *m, ml_pickle_value value,
                            size_t *ret_len);

/* The value of a key in a dict that was kept. @return whether it exists */
bool ml_pickle_find(const struct ml_pickle_machine *m, const struct ml_pickle_node *dict,
                    const char *key, ml_pickle_value *ret);

/* ---- For pickle_build.c and pickle_machine.c ------------------------------ */

/* "FILE: byte 12: ..." of the opcode. @return -EINVAL */
int ml_pickle_bad(const struct ml_pickle_machine *m, struct ml_error *err, const char *what);
int ml_pickle_no_memory(const struct ml_pickle_machine *m, struct ml_error *err);

int ml_pickle_push(struct ml_pickle_machine *m, ml_pickle_value value, struct ml_error *err);
int ml_pickle_mark(struct ml_pickle_machine *m, struct ml_error *err);
/* Drops the values above the last mark, and the mark. */
int ml_pickle_pop_mark(struct ml_pickle_machine *m, struct ml_error *err);
int ml_pickle_pop(struct ml_pickle_machine *m, struct ml_error *err);
int ml_pickle_dup(struct ml_pickle_machine *m, struct ml_error *err);

/* Pops the top `count` values, or all above the last mark, into a new container. */
int ml_pickle_gather(struct ml_pickle_machine *m, enum ml_pickle_kind kind, size_t count,
                     struct ml_error *err);
int ml_pickle_gather_marked(struct ml_pickle_machine *m, enum ml_pickle_kind kind,
                            struct ml_error *err);
/* Moves the top `count` values, or all above the last mark, into the container below. */
int ml_pickle_extend(struct ml_pickle_machine *m, enum ml_pickle_kind kind, size_t count,
                     struct ml_error *err);
int ml_pickle_extend_marked(struct ml_pickle_machine *m, enum ml_pickle_kind kind,
                            struct ml_error *err);

int ml_pickle_put(struct ml_pickle_machine *m, uint64_t number, struct ml_error *err);
int ml_pickle_get(struct ml_pickle_machine *m, uint64_t number, struct ml_error *err);

/* @return -EINVAL, with the name of the class or function that the opcode refers to */
int ml_pickle_refuse(struct ml_pickle_machine *m, uint8_t op, struct ml_error *err);

#endif
