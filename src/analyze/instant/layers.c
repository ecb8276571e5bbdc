/* layers.c: the list of layers, see module_tree.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>

#include "module_sums.h"

static int add_layer(const struct ml_module_sums *sums, uint32_t module, struct ml_layers *ret)
{
    struct ml_layer layer = {
        .title = ml_module_title(&sums->modules, module, &ret->at.arena),
        .class_name = ml_module_class(&sums->modules, module, &ret->at.arena),
        .no_module = module == ML_NO_MODULE,
        .own = sums->own.items[module],
        .percent = ml_snapshot_percent(&ret->at, sums->own.items[module].bytes),
    };

    return layer.title && layer.class_name ? ml_vec_push(&ret->list, layer) : -ENOMEM;
}

/* Memory without a module comes last. */
static int add_layers(const struct ml_module_sums *sums, struct ml_layers *ret)
{
    int r = 0;

    for (size_t i = 1; i < sums->own.len && r == 0; i++)
        if (sums->own.items[i].blocks > 0)
            r = add_layer(sums, (uint32_t)i, ret);
    if (r == 0 && sums->own.len > 0 && sums->own.items[ML_NO_MODULE].blocks > 0)
        r = add_layer(sums, ML_NO_MODULE, ret);
    return r;
}

int ml_layers(const struct ml_trace *trace, const struct ml_snapshot_opts *opts,
              struct ml_layers *ret, struct ml_error *err)
{
    struct ml_module_sums sums;
    int r;

    *ret = (struct ml_layers){0};
    r = ml_module_sums(trace, opts, &ret->at, &sums, err);
    if (r == 0) {
        ret->from_scopes = sums.modules.nested && sums.modules.list.len > 1;
        ret->all = sums.all;
        r = add_layers(&sums, ret);
        if (r < 0)
            ml_error_set(err, r, "out of memory");
    }
    ml_module_sums_release(&sums);
    return r;
}

void ml_layers_release(struct ml_layers *layers)
{
    ml_vec_release(&layers->list);
    ml_snapshot_release(&layers->at);
    *layers = (struct ml_layers){0};
}
