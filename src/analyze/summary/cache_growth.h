/* cache_growth.h: how the keys and values that a model keeps while it generates grow, by layer.
 *
 * A cache that grows is replaced: a thread allocates a block with room for one more token, copies,
 * and frees the old block before it allocates anything else. The difference of the two is one
 * growth: what a token takes in all texts of a batch, or several tokens that a model reads at once.
 * It is exact where the allocator does not round; where it does, the average is right. Blocks that
 * are replaced outside all modules, as by the function that searches with beams, do not grow.
 *
 * A cache that is allocated at once for the longest text is never replaced: the trace shows its
 * size, but not how much of it is in use.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_CACHE_GROWTH_H
#define ML_ANALYZE_CACHE_GROWTH_H

#include "arena.h"
#include "classes.h"
#include "modules.h"
#include "replay.h"
#include "vec.h"

/* By how much keys and values grew at a time. */
struct ml_growth_bytes {
    int64_t mean, least, most;
};

/* The keys and values of a module. */
struct ml_cache_layer {
    const char *module; /* its title, "": none */
    uint64_t peak_bytes;
    uint64_t growths; /* how often they grew */
    struct ml_growth_bytes each;
    bool fixed; /* all blocks of a tensor had the same size */
};

struct ml_cache_growth {
    ML_VEC(struct ml_cache_layer) layers; /* in order of their first allocation */
    uint64_t peak_bytes;                  /* of all together */
    uint64_t growths;                     /* the most of a layer */
    struct ml_growth_bytes each;          /* of all layers together */
    bool fixed;                           /* all of them */
};

void ml_cache_growth_release(struct ml_cache_growth *growth);

/* The block of the category that was allocated last in a space. */
struct ml_cache_latest {
    uint64_t addr, size_bytes;
    uint32_t tensor; /* index of its account */
    uint32_t thread;
    bool replaces; /* the one that its thread frees next, if that has the same account */
};

struct ml_cache_layer_account {
    uint32_t module;
    struct ml_gauge bytes;
};

struct ml_cache_tensor_account {
    uint32_t layer;      /* index */
    uint64_t size_bytes; /* of its first block */
    bool varies;         /* others have another */
    uint64_t growths;
    int64_t grown_bytes;
    struct ml_growth_bytes each;
};

/* Follows the blocks of a replay. Starts zeroed. */
struct ml_cache_book {
    bool on; /* there are such blocks */
    int failed;
    struct ml_modules modules;
    ML_VEC(struct ml_cache_latest) latest;          /* by space */
    ML_VEC(struct ml_cache_layer_account) layers;   /* in order of the first allocation */
    ML_VEC(struct ml_cache_tensor_account) tensors; /* one for each label */
    struct ml_map layer_of;                         /* module -> index */
    struct ml_map tensor_of;                        /* label and module -> index */
    struct ml_gauge bytes;
};

/* Does nothing if no block of the trace has the category.
 * @return 0 or -ENOMEM; release in both cases */
int ml_cache_book_open(struct ml_cache_book *book, const struct ml_trace *trace,
                       const struct ml_classes *classes);

/* For the callbacks of a replay that has these classes. */
void ml_cache_book_add(struct ml_cache_book *book, const struct ml_block *block);
void ml_cache_book_remove(struct ml_cache_book *book, const struct ml_block *block);

/* @return 0 or -ENOMEM, also of an earlier call */
int ml_cache_book_close(struct ml_cache_book *book, struct ml_arena *arena,
                        struct ml_cache_growth *ret);
void ml_cache_book_release(struct ml_cache_book *book);

#endif
