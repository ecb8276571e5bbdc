/* pprof_stacks.c: see pprof_stacks.h.
 *
 * A location with lines becomes a frame with names. One without becomes an address, in a
 * library if the profile names one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pprof_stacks.h"

#include "block.h"

static uint32_t string_of(const struct ml_pprof_stacks *s, uint64_t number)
{
    struct ml_pprof_text text = ml_pprof_text(s->profile, number);

    return ml_dict_string(&s->sink->dict, text.bytes, text.len);
}

/* A library's number + 1, 0: unknown. */
static uint64_t library_of(struct ml_pprof_stacks *s, uint64_t id,
                           const struct ml_pprof_mapping *mapping)
{
    uint64_t number;

    if (ml_map_get(&s->libraries, id, &number))
        return number + 1;
    number = ml_dict_add(&s->sink->dict, ML_DEF_LIBRARY,
                         (uint64_t[ML_DEF_FIELDS]){
                             [ML_LIBRARY_PROCESS] = s->process,
                             [ML_LIBRARY_BASE] = mapping->start - mapping->offset,
                             [ML_LIBRARY_END] = mapping->end,
                             [ML_LIBRARY_PATH] = string_of(s, mapping->file),
                             [ML_LIBRARY_BUILD_ID] = string_of(s, mapping->build_id),
                         });
    return ml_map_put(&s->libraries, id, number) < 0 ? 0 : number + 1;
}

static int64_t frame_at_address(struct ml_pprof_stacks *s, const struct ml_pprof_location *location)
{
    const struct ml_pprof_mapping *mapping = ml_pprof_mapping(s->profile, location->mapping);
    struct ml_dict_frame frame = {.kind = ML_FRAME_NATIVE, .what = location->address};

    if (mapping && location->address >= mapping->start && mapping->start >= mapping->offset) {
        frame.where = library_of(s, location->mapping, mapping);
        if (frame.where)
            frame.what = location->address - (mapping->start - mapping->offset);
    }
    return ml_dict_frame(&s->sink->dict, &frame);
}

static int64_t frame_of_line(struct ml_pprof_stacks *s, const struct ml_pprof_line *line)
{
    const struct ml_pprof_function *function = ml_pprof_function(s->profile, line->function);

    return ml_dict_frame(&s->sink->dict,
                         &(struct ml_dict_frame){
                             .kind = ML_FRAME_PYTHON,
                             .where = function ? string_of(s, function->name) : 0,
                             .what = function ? string_of(s, function->file) : 0,
                             .line = line->line > UINT32_MAX ? 0 : (uint32_t)line->line,
                         });
}

static uint32_t add_location(struct ml_pprof_stacks *s, uint32_t stack,
                             const struct ml_pprof_location *location, uint32_t *depth)
{
    const struct ml_pprof_line *lines = s->profile->lines.items + location->first_line;

    if (location->lines == 0 && (*depth)++ < ML_STACK_MAX_DEPTH)
        return ml_dict_stack(&s->sink->dict, stack, frame_at_address(s, location));
    for (uint32_t i = location->lines; i-- > 0 && (*depth)++ < ML_STACK_MAX_DEPTH;)
        stack = ml_dict_stack(&s->sink->dict, stack, frame_of_line(s, &lines[i]));
    return stack;
}

uint32_t ml_pprof_stack(struct ml_pprof_stacks *s)
{
    uint32_t stack = 0, depth = 0;
    uint64_t index;

    for (size_t i = s->ids.len; i-- > 0;)
        if (ml_map_get(&s->profile->location_of, s->ids.items[i], &index))
            stack = add_location(s, stack, &s->profile->locations.items[index], &depth);
    return stack;
}

void ml_pprof_stacks_release(struct ml_pprof_stacks *s)
{
    ml_map_release(&s->libraries);
    ml_vec_release(&s->ids);
}
