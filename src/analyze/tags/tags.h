/* tags.h: the tag of a block: its name in MXNet's memory profilers, so that keyword dictionaries
 * written for them work on any trace.
 *
 *     in_arg:fc1.weight  arg_grad:fc1.weight  aux_state:bn1.running_mean
 *     optimizer_state:exp_avg:fc1.weight      data_entry:encoder.0_oedge1
 *     workspace:aten::conv2d                  unknown:_zeros              kvstore:3
 *
 * A label is used as the tag if it already has this form, if its block has no category, or if the
 * trace was imported from a file with tags. Otherwise the tag is built from category, label,
 * module and operator.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_TAGS_H
#define ML_ANALYZE_TAGS_H

#include "map.h"
#include "modules.h"
#include "vec.h"

/* The outputs of one module: for each number, the end of the last block that had it. */
struct ml_tag_place {
    ML_VEC(uint64_t) ends;
};

struct ml_tags {
    const struct ml_trace *trace;
    bool has_tags; /* imported from a file with tags: labels are tags */
    struct ml_modules modules;
    struct ml_map place_index; /* module or operator -> index */
    ML_VEC(struct ml_tag_place) places;
};

/* @return 0 or -ENOMEM; release in both cases */
int ml_tags_init(struct ml_tags *tags, const struct ml_trace *trace);
void ml_tags_release(struct ml_tags *tags);

/* Appends the tag of a block; call it in the order of allocation. An output of a module gets the
 * lowest number that no live output has, so that the outputs of each step have the same names.
 * @space   the number of its space in the trace
 * @end_ns  when it ended, UINT64_MAX: never
 * @return 0 or -ENOMEM */
int ml_tag_of(struct ml_tags *tags, const struct ml_block *block, uint32_t space, uint64_t end_ns,
              struct ml_buf *out);

/* Appends a tag as users of PyTorch would write it: "parameter:fc1.weight",
 * "activation:encoder.0[1]". @return 0 or -ENOMEM */
int ml_tag_in_torch_words(const char *tag, struct ml_buf *out);

/* Whether the text is a tag: "in_arg:A", also after a scope of MXNet 2, "dense0:in_arg:A". */
bool ml_tag_is_spelled(const char *text);

#endif
