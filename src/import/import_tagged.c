/* import_tagged.c: see import_tagged.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "import_tagged.h"

#include <math.h>
#include <string.h>

#include "import_limits.h"
#include "memledger/memledger.h"
#include "tag_words.h"

void ml_import_tagged_init(struct ml_import_tagged *t, struct ml_import_sink *sink)
{
    *t = (struct ml_import_tagged){.sink = sink};
    t->process = ml_import_process(sink, 0, "");
    t->thread = ml_import_thread(sink, t->process, 0, "");
    ml_import_unknown(sink, ML_UNKNOWN_ADDRESSES | ML_UNKNOWN_FREES | ML_UNKNOWN_TIMES);
}

void ml_import_tagged_put(struct ml_import_tagged *t, const struct ml_tagged_block *block)
{
    struct ml_event event = {
        .kind = block->has_requested ? ML_ALLOC_EX : ML_ALLOC,
        .time_ns = ++t->time_ns,
        .thread = t->thread,
        .space = block->space,
        .scope = block->scope,
        .stack = block->stack,
        .addr = ml_import_address(t->sink),
        .size = block->bytes,
        .args = {block->requested},
    };

    ml_import_event(t->sink, &event);
    if (block->tag.len == 0)
        return;
    event.kind = ML_LABEL;
    event.stack = 0;
    event.size = 0;
    event.args[0] = ml_dict_string(&t->sink->dict, block->tag.text, block->tag.len);
    event.args[1] = ml_tag_category(block->tag);
    ml_import_event(t->sink, &event);
}

void ml_import_tagged_note(struct ml_import_tagged *t, struct ml_slice text)
{
    struct ml_event event = {
        .kind = ML_MARKER,
        .time_ns = t->time_ns,
        .thread = t->thread,
        .args = {0, ml_dict_string(&t->sink->dict, text.text, text.len), 0},
    };

    ml_import_event(t->sink, &event);
}

/* Tags of the old profilers that do not begin with a word and a colon, or that say no category. */
static const struct {
    const char *prefix;
    uint32_t category;
} others[] = {
    {ML_TAG_ARGUMENT ":", MEMLEDGER_PARAMETER}, /* inputs have no tag in these files */
    {"_optimizer_", MEMLEDGER_OPTIMIZER_STATE},
    {"workspace,", MEMLEDGER_OTHER},
    {"dropout:", MEMLEDGER_OTHER},
    {"unknown:", MEMLEDGER_OTHER},
    {"untagged", MEMLEDGER_OTHER},
    {"_untagged", MEMLEDGER_OTHER},
    {"warning!", MEMLEDGER_OTHER},
};

static int find_other(struct ml_slice tag)
{
    for (int i = 0; i < (int)ML_ARRAY_SIZE(others); i++)
        if (ml_slice_begins(tag, others[i].prefix))
            return i;
    return -1;
}

static uint32_t word_category(struct ml_slice tag)
{
    const char *colon = memchr(tag.text, ':', tag.len);

    return colon ? ml_tag_word_category(tag.text, (size_t)(colon - tag.text)) : MEMLEDGER_OTHER;
}

uint32_t ml_tag_category(struct ml_slice tag)
{
    int other = find_other(tag);

    return other < 0 ? word_category(tag) : others[other].category;
}

bool ml_tag_is_known(struct ml_slice tag)
{
    return find_other(tag) >= 0 || word_category(tag) != MEMLEDGER_OTHER;
}

bool ml_mib_to_bytes(double mib, uint64_t *ret)
{
    double bytes = rint(mib * 1048576.0);

    if (!(bytes >= 0) || bytes > (double)ML_IMPORT_BYTES_MAX)
        return false;
    *ret = (uint64_t)bytes;
    return true;
}
