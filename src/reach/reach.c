/* reach.c: see reach.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reach.h"

#include <errno.h>
#include <string.h>

#include "block.h"
#include "defs.h"
#include "number_rows.h"
#include "pointer_search.h"
#include "replay.h"
#include "section_write.h"
#include "varint.h"

struct work {
    const struct ml_reach_opts *opts;
    struct ml_replay replay;
    ml_numbers processes, blocks; /* rows of the section */
    uint64_t last_address;        /* of the row before */
};

/* ---- The blocks of a process --------------------------------------------- */

/* The last process of that number; -1: none. A forked one has blocks of its parent, which are not
 * among its own. */
static int64_t process_of(const struct ml_trace *trace, uint32_t pid)
{
    for (uint32_t i = ml_trace_processes(trace); i > 0; i--) {
        const struct ml_process *process = ml_trace_process(trace, i - 1);

        if (process->pid == pid)
            return process->how == ML_FORKED ? -1 : (int64_t)i - 1;
    }
    return -1;
}

static bool is_of_malloc(const struct work *w, const struct ml_replay_space *space)
{
    const struct ml_trace *trace = w->replay.trace;

    return space->from_libc && !space->ranged && !space->sampled_bytes &&
           strcmp(ml_trace_string(trace, ml_trace_space(trace, space->number)->name, NULL),
                  "malloc") == 0;
}

/* Blocks that were allocated since the copy was made are not in it. */
static int list_blocks(const struct work *w, uint32_t process, uint64_t time_ns,
                       struct ml_block_finder *ret)
{
    const struct ml_block *block;
    size_t cursor = 0;
    int r = 0;

    while (r == 0 && (block = ml_replay_next(&w->replay, true, &cursor))) {
        const struct ml_replay_space *space = &w->replay.spaces.items[block->space];

        if (space->process != process || block->time_ns > time_ns || !is_of_malloc(w, space))
            continue;
        r = ml_vec_push(&ret->blocks, (struct ml_reach_block){
                                          .begin = block->addr,
                                          .end = block->addr + ml_max_u64(block->size, 1),
                                          .space = space->number,
                                      });
    }
    ml_block_finder_sort(ret);
    return r;
}

/* ---- The section --------------------------------------------------------- */

static int put_process(struct work *w, uint32_t process, enum ml_reach_outcome outcome,
                       uint64_t time_ns, uint64_t searched_bytes)
{
    const uint64_t row[ML_REACH_PROCESS_FIELDS] = {
        [ML_REACH_PROCESS_NUMBER] = process,
        [ML_REACH_PROCESS_OUTCOME] = outcome,
        [ML_REACH_PROCESS_TIME_NS] = time_ns,
        [ML_REACH_PROCESS_SEARCHED_BYTES] = searched_bytes,
    };
    int r = 0;

    for (size_t i = 0; r == 0 && i < ML_REACH_PROCESS_FIELDS; i++)
        r = ml_vec_push(&w->processes, row[i]);
    return r;
}

static int put_blocks(struct work *w, const struct ml_block_finder *finder)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < finder->blocks.len; i++) {
        const struct ml_reach_block *block = &finder->blocks.items[i];

        r = ml_vec_push(&w->blocks, block->space);
        if (r == 0)
            r = ml_vec_push(&w->blocks, ml_zigzag((int64_t)(block->begin - w->last_address)));
        if (r == 0)
            r = ml_vec_push(&w->blocks, block->reach);
        w->last_address = block->begin;
    }
    return r;
}

static int store(const struct work *w, struct ml_error *err)
{
    struct ml_buf section = {0};
    int r = ml_rows_put(&section, ML_REACH_PROCESSES, &w->processes, ML_REACH_PROCESS_FIELDS);

    if (r == 0)
        r = ml_rows_put(&section, ML_REACH_BLOCKS, &w->blocks, ML_REACH_BLOCK_FIELDS);
    if (r == 0)
        r = ml_trace_put_section(w->replay.trace, ML_BLOCK_REACH, section.data, section.len, err);
    ml_buf_release(&section);
    return r;
}

/* ---- All of it ----------------------------------------------------------- */

/* @return 0, -ETIME, -ENOMEM, or another negative errno if the copy cannot be read */
static int search(const struct work *w, const struct ml_session_copy *copy, pid_t pid,
                  struct ml_block_finder *blocks, uint64_t *ret_searched_bytes)
{
    struct ml_pointer_search search = {.pid = pid, .deadline_ns = w->opts->deadline_ns};
    ml_root_ranges roots = {0};
    uint64_t word;
    int r = pid > 0 ? ml_root_ranges_find(copy, pid, &roots) : -ESRCH;

    if (r == 0 && ml_peer_read(pid, copy->stack, &word, sizeof(word)) == 0)
        r = -EPERM;
    if (r == 0)
        r = ml_pointer_search(&search, &roots, blocks);
    *ret_searched_bytes = search.searched_bytes;
    ml_vec_release(&roots);
    return r;
}

static int add_copy(struct work *w, const struct ml_session_copy *copy)
{
    int64_t process = process_of(w->replay.trace, copy->of_pid);
    uint64_t time_ns = copy->time_ns - w->opts->start_ns, searched_bytes = 0;
    struct ml_block_finder blocks = {0};
    enum ml_reach_outcome outcome;
    int r;

    if (!copy->of_pid || process < 0)
        return 0;
    r = list_blocks(w, (uint32_t)process, time_ns, &blocks);
    if (r == 0)
        r = search(w, copy, (pid_t)atomic_load_explicit(&copy->pid, memory_order_relaxed), &blocks,
                   &searched_bytes);
    outcome = r == 0 ? ML_REACH_SEARCHED : r == -ETIME ? ML_REACH_TOO_LONG : ML_REACH_UNREADABLE;
    if (r != -ENOMEM)
        r = put_process(w, (uint32_t)process, outcome, time_ns, searched_bytes);
    if (r == 0 && outcome == ML_REACH_SEARCHED)
        r = put_blocks(w, &blocks);
    ml_block_finder_release(&blocks);
    return r;
}

int ml_reach(const char *path, const struct ml_reach_opts *opts, struct ml_error *err)
{
    struct work w = {.opts = opts};
    struct ml_trace *trace = NULL;
    int r = ml_trace_open(path, &(struct ml_trace_opts){0}, &trace, err);

    if (r < 0)
        return r;
    r = ml_replay_init(&w.replay, trace);
    if (r == 0)
        r = ml_replay_trace(&w.replay, UINT64_MAX, err);
    for (size_t i = 0; r == 0 && i < opts->copy_count; i++)
        r = add_copy(&w, &opts->copies[i]);
    if (r == 0)
        r = store(&w, err);
    if (r < 0 && err->text[0] == '\0')
        ml_error_set(err, r, "%s: %s", path, strerror(-r));
    ml_replay_release(&w.replay);
    ml_trace_free(trace);
    ml_vec_release(&w.processes);
    ml_vec_release(&w.blocks);
    return r;
}
