/* compare_instants.c: see compare_instants.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compare_instants.h"

#include <errno.h>
#include <stdlib.h>

#include "compare_samples.h"

/* Each instant is a run to the view. */
static int add_instant(struct ml_compare_instants *c, const struct ml_at *at, const char *name)
{
    if (ml_vec_push(&c->list, ((struct ml_compare_instant){.name = name, .at = *at})) < 0)
        return -ENOMEM;
    return ml_vec_push(&c->columns.runs,
                       ((struct ml_compare_run){.name = name, .given = c->columns.runs.len}));
}

static void take_moments(struct ml_compare_instants *c)
{
    const struct ml_compare_moment *moments = c->view.moments.items;

    for (size_t i = 0; i < c->list.len; i++) {
        c->list.items[i].time_ns = moments[i].time_ns;
        c->list.items[i].bytes = ml_change_of(moments[i].bytes, moments[0].bytes);
        c->list.items[i].blocks = ml_change_of(moments[i].blocks, moments[0].blocks);
    }
    c->health = moments[0].health;
}

int ml_compare_instants(const struct ml_trace *trace, const struct ml_at *instants,
                        const char *const *names, size_t count,
                        const struct ml_compare_view_opts *opts, struct ml_compare_instants *ret,
                        struct ml_error *err)
{
    struct ml_compare_input *inputs = calloc(count, sizeof(*inputs));
    struct ml_compare_view_opts own = *opts;
    int r = inputs ? 0 : ml_error_set(err, -ENOMEM, "out of memory");

    *ret = (struct ml_compare_instants){.device = opts->device, .pid = opts->pid};
    for (size_t i = 0; r == 0 && i < count; i++) {
        inputs[i] = (struct ml_compare_input){.name = names[i], .trace = trace};
        r = add_instant(ret, &instants[i], names[i]);
    }
    own.instants = instants;
    if (r == 0)
        r = ml_compare_view(inputs, &ret->columns, &own, &ret->view, err);
    if (r == 0)
        take_moments(ret);
    free(inputs);
    return r;
}

void ml_compare_instants_release(struct ml_compare_instants *compared)
{
    ml_vec_release(&compared->list);
    ml_compare_release(&compared->columns);
    ml_compare_view_release(&compared->view);
}
