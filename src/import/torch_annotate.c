/* torch_annotate.c: ranges named by PyTorch and the user, as scopes.
 *
 * An optimizer's step becomes the same as in a recording: a phase, the optimizer's class in it,
 * and the end of a training step.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "memledger/memledger.h"
#include "torch_device.h"

#define STEP_PREFIX "Optimizer.step#"
#define STEP_SUFFIX ".step"

static struct ml_dict *dict_of(const struct ml_torch_device *d)
{
    return &d->t->sink->dict;
}

void ml_torch_push(struct ml_torch_device *d, struct ml_dict_scope scope)
{
    struct ml_event event;

    scope.parent = d->scope;
    d->scope = ml_dict_scope(dict_of(d), &scope);
    event = ml_torch_event(d, ML_PUSH);
    ml_import_event(d->t->sink, &event);
}

void ml_torch_pop_to(struct ml_torch_device *d, uint32_t outer)
{
    while (d->scope != outer && d->scope != 0) {
        struct ml_event event;

        d->scope = ml_dict_scope_parent(dict_of(d), d->scope);
        event = ml_torch_event(d, ML_POP);
        ml_import_event(d->t->sink, &event);
    }
}

static void mark(struct ml_torch_device *d, enum memledger_mark_kind kind, uint64_t number,
                 const char *name)
{
    struct ml_event event = ml_torch_event(d, ML_MARK);

    event.args[0] = kind;
    event.args[1] = number;
    event.args[2] = ml_dict_cstr(dict_of(d), name);
    ml_import_event(d->t->sink, &event);
}

void ml_torch_mark_phase(struct ml_torch_device *d, enum ml_phase phase)
{
    d->phase = (uint8_t)phase;
    mark(d, MEMLEDGER_MARK_PHASE, 0, ml_phase_name(phase));
}

void ml_torch_mark_step(struct ml_torch_device *d)
{
    mark(d, MEMLEDGER_MARK_STEP, ++d->steps, "");
}

static void push(struct ml_torch_device *d, enum memledger_scope_kind kind, uint32_t name)
{
    ml_torch_push(d, (struct ml_dict_scope){.kind = kind, .name = name});
}

/* "Optimizer.step#AdamW.step" -> "AdamW". @return its string, 0: it is not an optimizer's
 * step */
static uint32_t optimizer_class(struct ml_torch_device *d, uint32_t name)
{
    const char *text = ml_dict_text(dict_of(d), name), *end;
    size_t len;

    if (strncmp(text, STEP_PREFIX, strlen(STEP_PREFIX)) != 0)
        return 0;
    text += strlen(STEP_PREFIX);
    end = strstr(text, STEP_SUFFIX);
    len = end ? (size_t)(end - text) : strlen(text);
    return len ? ml_dict_string(dict_of(d), text, len) : 0;
}

static int begin(struct ml_torch_device *d, uint32_t name)
{
    uint32_t optimizer = optimizer_class(d, name);
    struct ml_torch_open_range range = {name, d->scope, optimizer != 0};

    if (d->open.len >= ML_TORCH_RANGES_DEEP)
        return 0;
    if (ml_vec_push(&d->open, range) < 0)
        return -ENOMEM;
    if (optimizer) {
        ml_torch_mark_phase(d, ML_PHASE_OPTIMIZER);
        push(d, MEMLEDGER_SCOPE_PHASE, ml_dict_cstr(dict_of(d), "optimizer"));
    }
    push(d, MEMLEDGER_SCOPE_USER, optimizer ? optimizer : name);
    return 0;
}

/* Ranges may overlap: inner ones that are still open end with this one. */
static void end(struct ml_torch_device *d, uint32_t name)
{
    size_t i = d->open.len;
    struct ml_torch_open_range range;

    while (i > 0 && d->open.items[i - 1].name != name)
        i--;
    if (i == 0)
        return; /* it began before the snapshot's trace */
    range = d->open.items[i - 1];
    d->open.len = i - 1;
    ml_torch_pop_to(d, range.outer);
    if (range.optimizer) {
        ml_torch_mark_phase(d, ML_PHASE_NONE);
        ml_torch_mark_step(d);
    }
}

int ml_torch_put_annotation(struct ml_torch_device *d, const struct ml_torch_annotation *a)
{
    ml_torch_leave_calls(d);
    if (a->ends)
        end(d, a->name);
    else
        return begin(d, a->name);
    return 0;
}
