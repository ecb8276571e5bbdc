/* symbol_places.c: see symbol_places.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "symbol_places.h"

#include <string.h>

#include "defs.h"

#define JOB_PLACES 512u /* large files are shared among processes */

static int by_file_and_address(const void *left, const void *right)
{
    const struct ml_symbol_place *a = left, *b = right;
    int order = strcmp(a->path, b->path);

    if (order == 0)
        order = strcmp(a->build_id, b->build_id);
    if (order == 0)
        order = (a->address > b->address) - (a->address < b->address);
    return order ? order : (a->frame > b->frame) - (a->frame < b->frame);
}

static int gather(const struct ml_trace *trace, struct ml_symbol_places *ret)
{
    for (uint32_t i = 0; i < ml_trace_frames(trace); i++) {
        const struct ml_frame *frame = ml_trace_frame(trace, i);
        const struct ml_library *library;

        if (frame->kind != ML_FRAME_NATIVE || frame->library < 0 || frame->address == 0)
            continue;
        library = ml_trace_library(trace, (uint32_t)frame->library);
        if (ml_vec_push(&ret->list, (struct ml_symbol_place){
                                        .path = ml_trace_string(trace, library->path, NULL),
                                        .build_id = ml_trace_string(trace, library->build_id, NULL),
                                        .address = frame->address - 1,
                                        .frame = i,
                                        .named = frame->function != 0,
                                    }))
            return -ENOMEM;
    }
    return 0;
}

static bool same_file(const struct ml_symbol_place *a, const struct ml_symbol_place *b)
{
    return !strcmp(a->path, b->path) && !strcmp(a->build_id, b->build_id);
}

/* Numbers the files, and divides them into jobs. */
static int divide(struct ml_symbol_places *p)
{
    struct ml_symbol_job job = {0};

    for (uint32_t i = 0; i < p->list.len; i++) {
        struct ml_symbol_place *place = &p->list.items[i];
        bool begins = i == 0 || !same_file(place, place - 1);

        p->files += begins;
        place->file = p->files - 1;
        if (job.count > 0 && (begins || job.count == JOB_PLACES)) {
            if (ml_vec_push(&p->jobs, job))
                return -ENOMEM;
            job = (struct ml_symbol_job){.first = i};
        }
        job.count++;
    }
    return job.count > 0 ? ml_vec_push(&p->jobs, job) : 0;
}

int ml_symbol_places(const struct ml_trace *trace, struct ml_symbol_places *ret)
{
    int r;

    *ret = (struct ml_symbol_places){0};
    r = gather(trace, ret);
    ml_vec_sort(&ret->list, by_file_and_address);
    return r < 0 ? r : divide(ret);
}

void ml_symbol_places_release(struct ml_symbol_places *places)
{
    ml_vec_release(&places->list);
    ml_vec_release(&places->jobs);
}
