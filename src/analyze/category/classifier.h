/* classifier.h: the state from which the category of each block is found.
 *
 * class_rules.c looks at a block when it is allocated and stores what matters later;
 * class_decide.c finds its category when it is freed, or at the end. classify.c feeds them the
 * events of a whole trace, following_classes.c those of one that still grows.
 *
 * There may be tens of millions of live blocks, and the classifier knows the most about each. It
 * does not need times and stacks, so in its live table these fields of a block contain the
 * ordinal and the label that counts. The ordinal, the thread and the scope of a block are enough
 * to find the call, node or step that allocated it, and whether that is still running.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_CLASSIFIER_H
#define ML_ANALYZE_CLASSIFIER_H

#include "calls.h"
#include "classify.h"
#include "engine_passes.h"
#include "kept_blocks.h"
#include "named_results.h"
#include "nodes.h"
#include "recreated_scopes.h"
#include "replay.h"
#include "scope_facts.h"

enum ml_class_rule {
    ML_CLASS_RULE_NONE,
    ML_CLASS_RULE_BACKWARD,
    ML_CLASS_RULE_OPTIMIZER,        /* in a scope of the optimizer, or of an engine */
    ML_CLASS_RULE_OPTIMIZER_MARKED, /* by a mark alone */
    ML_CLASS_RULE_MODULE,
    ML_CLASS_RULE_AFTER_FORWARD,
    ML_CLASS_RULE_COMMUNICATION,
    ML_CLASS_RULE_PROGRAM, /* in a function of the program, not after forward */
};

/* The facts about a live block, by its entry in the live table. */
struct ml_class_facts {
    uint16_t label_category : 4; /* OTHER: none */
    uint16_t tag_category : 4;   /* from the tag of a label of category OTHER; or OTHER */
    uint16_t rule : 3;
    uint16_t in_call : 1; /* in a call of the module or phase that the rule is about */
    uint16_t outside : 1; /* outside modules, backward and optimizer */
    uint16_t named : 1;
    uint16_t is_result : 1; /* of an operator: it has a label, even one without a name */
    uint16_t planned : 1;   /* allocated by no operator, for a graph that runs repeatedly */
};
_Static_assert(sizeof(struct ml_class_facts) == 2, "one for each live block");

struct ml_class_process {
    uint8_t phase;           /* enum ml_phase, of the last mark */
    uint64_t phase_ordinal;  /* of the first allocation after that mark */
    struct ml_passes passes; /* of backward */
    uint32_t pass_thread;    /* that began the first of them */
    bool in_threads;         /* others did, too */
    struct ml_passes forwards;
    bool names_state; /* state of an optimizer has had a label */
    struct ml_engine_passes engine;
};

struct ml_class_space {
    bool looked_at;  /* the next two are known */
    bool classified; /* else only labels matter */
    bool by_engine;  /* operators that run later allocate its blocks */
    uint32_t process;
};

struct ml_classifier {
    struct ml_classes *ret; /* NULL: nothing is stored, see following_classes.h */
    uint64_t next_ordinal;
    uint64_t last_pass; /* the next allocation when the last pass of backward began */
    uint64_t backward_bytes, backward_named_bytes; /* see ml_classes */
    bool by_entry; /* kept blocks get the number of their entry instead of their ordinal */
    struct ml_progress *progress;
    uint64_t events; /* read so far */
    struct ml_scope_facts facts;
    struct ml_calls calls;
    struct ml_replay replay;
    ML_VEC(struct ml_class_facts) births; /* by entry of the live table */
    ML_VEC(struct ml_class_process) processes;
    ML_VEC(struct ml_class_space) spaces; /* by index in the replay */
    struct ml_map process_index;          /* number -> index */
    ML_VEC(struct ml_passes) in_thread;   /* passes of backward that a thread began */
    struct ml_map thread_index;           /* number -> index */
    struct ml_nodes nodes;
    struct ml_kept_blocks kept;
    struct ml_named_results results;
    struct ml_recreated_scopes alike;
    bool inferred;                 /* scopes come from stacks: see classify.h */
    struct ml_map parameter_sizes; /* bytes -> 1 */
    bool marked;                   /* a known phase was marked, or a label has a tag */
    int failed;                    /* in a callback: -ENOMEM */
};

/* The number of this allocation, from 0. */
static inline uint64_t ml_block_ordinal(const struct ml_block *block)
{
    return block->time_ns;
}

/* The string, 0: none. The block's own label field has the last label, which need not be the one
 * that counts. */
static inline uint32_t ml_block_counted_label(const struct ml_block *block)
{
    return block->stack;
}

/* The index of the process with this number, which is added if it is new; or -ENOMEM. */
int64_t ml_classifier_process(struct ml_classifier *c, uint32_t number);

/* The facts about a live block; NULL: out of memory. Valid until the next call. */
struct ml_class_facts *ml_classifier_facts(struct ml_classifier *c, const struct ml_block *block);

/* A block was allocated: chooses its rule. @return 0 or -ENOMEM */
int ml_classifier_open(struct ml_classifier *c, const struct ml_block *block);

/* A block that the live table gets later than it was allocated. Its space is not classified.
 * @return 0 or -ENOMEM */
int ml_classifier_adopt(struct ml_classifier *c, const struct ml_block *block);

/* The scope that identifies the thread's node is that of `scope`. @return 0 or -ENOMEM */
int ml_classifier_visit(struct ml_classifier *c, uint32_t thread, uint32_t scope, bool marked);

/* A label that does not count changes nothing. Sets `failed` if memory is short. */
void ml_classifier_take_label(struct ml_classifier *c, const struct ml_block *block,
                              struct ml_class_facts *birth, uint32_t label, uint8_t category);

/* The category of a block that `death` frees; NULL: it is still live. Sets `failed` if memory is
 * short. */
uint8_t ml_classifier_category(struct ml_classifier *c, const struct ml_block *block,
                               const struct ml_class_facts *birth, const struct ml_event *death);

/* Makes a zeroed one ready for the events of this trace. @return 0 or -ENOMEM */
int ml_classifier_begin(struct ml_classifier *c, const struct ml_trace *trace);
void ml_classifier_release(struct ml_classifier *c);

/* Reads the scopes that the trace defines so far. @return 0 or -ENOMEM */
int ml_classifier_learn(struct ml_classifier *c, const struct ml_trace *trace);

/* Whether the trace needs no classes: its blocks have the categories of their labels. */
bool ml_classifier_is_needless(const struct ml_classifier *c, const struct ml_trace *trace);

/* @ctx  the classifier. @return 0 or -ENOMEM */
int ml_classifier_feed(void *ctx, const struct ml_event *event);

#endif
