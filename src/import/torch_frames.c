/* torch_frames.c: see torch_frames.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "torch_frames.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "compiler.h"
#include "event.h"
#include "memledger/memledger.h"
#include "phase.h"

#define MODULES_DEEP 32 /* deeper ones count for the last */

/* ---- One frame ----------------------------------------------------------------- */

struct frame {
    const char *function, *file;
};

static struct frame frame_at(const struct ml_torch_places *p, uint32_t number)
{
    struct ml_dict_frame frame = ml_dict_frame_at(p->dict, number);

    return (struct frame){ml_dict_text(p->dict, (uint32_t)frame.where),
                          ml_dict_text(p->dict, (uint32_t)frame.what)};
}

static bool is(const char *text, const char *wanted)
{
    return strcmp(text, wanted) == 0;
}

static bool ends_in(const char *text, const char *end)
{
    size_t len = strlen(text), end_len = strlen(end);

    return len >= end_len && is(text + len - end_len, end);
}

/* Whether the file is in that folder of PyTorch, or is that file: "torch/optim/". */
static bool is_in(const struct frame *f, const char *part)
{
    const char *found = strstr(f->file, part);

    return found && (found == f->file || found[-1] == '/');
}

static bool is_one_of(const char *text, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is(text, list[i]))
            return true;
    return false;
}

static bool is_forward(const struct frame *f)
{
    return is(f->function, "forward") || ends_in(f->function, ".forward");
}

/* A function between the call of a module and its forward. */
static bool is_module_call(const struct frame *f)
{
    static const char *const functions[] = {"_call_impl", "_wrapped_call_impl", "_slow_forward",
                                            "__call__"};

    return is_in(f, "torch/nn/modules/module.py") &&
           is_one_of(f->function, functions, ML_ARRAY_SIZE(functions));
}

/* Their forward calls the model that they contain. */
static bool is_wrapper(const struct frame *f)
{
    return is_in(f, "torch/nn/parallel/") || is_in(f, "torch/distributed/") ||
           is_in(f, "torch/_dynamo/");
}

static bool is_optimizer_step(const struct frame *f)
{
    if (!is_in(f, "torch/optim/") || is_in(f, "torch/optim/lr_scheduler.py") ||
        is_in(f, "torch/optim/swa_utils.py"))
        return false;
    return is(f->function, "step") || is(f->function, "_init_group") ||
           (is(f->function, "wrapper") && is_in(f, "torch/optim/optimizer.py")) ||
           strncmp(f->function, "_multi_tensor_", 14) == 0 ||
           strncmp(f->function, "_single_tensor_", 15) == 0;
}

/* Functions in Python that the autograd engine calls from its own thread. */
static bool is_called_by_engine(const struct frame *f)
{
    return is_in(f, "torch/autograd/function.py") || is_in(f, "torch/utils/checkpoint.py");
}

/* The autograd engine, or a call of it, in C++ or in Python. */
static bool is_backward(const struct frame *f, bool outermost)
{
    if (strstr(f->function, "torch::autograd::Engine::") ||
        strstr(f->function, "torch::autograd::python::PythonEngine::"))
        return true;
    if (is(f->function, "backward") && is_in(f, "torch/_tensor.py"))
        return true;
    return ((is(f->function, "backward") || is(f->function, "grad")) &&
            is_in(f, "torch/autograd/__init__.py")) ||
           (is(f->function, "_engine_run_backward") && is_in(f, "torch/autograd/")) ||
           (outermost && is_called_by_engine(f));
}

static bool is_building(const struct frame *f)
{
    static const char *const functions[] = {"_apply", "load_state_dict", "_load_from_state_dict",
                                            "to_empty"};

    if (is_in(f, "torch/nn/parameter.py"))
        return true;
    if (is_in(f, "torch/nn/modules/module.py"))
        return is_one_of(f->function, functions, ML_ARRAY_SIZE(functions));
    return is_in(f, "torch/nn/modules/") && is(f->function, "__init__");
}

/* PyTorch's functions in C++ that allocate scratch memory for a library and keep it for later
 * calls: one block for each handle and stream. One calls the other, the innermost counts. */
static const char *workspace_of(const struct frame *f)
{
    if (strstr(f->function, "at::cuda::getCUDABlasLtWorkspace("))
        return "cuBLASLt" ML_SHARED_WORKSPACE;
    if (strstr(f->function, "at::cuda::getCurrentCUDABlasHandle("))
        return "cuBLAS" ML_SHARED_WORKSPACE;
    return NULL;
}

static bool is_multiplication(const struct frame *f)
{
    static const char *const functions[] = {"linear", "bilinear", "_in_projection",
                                            "_in_projection_packed",
                                            "multi_head_attention_forward"};

    if (is_in(f, "torch/nn/functional.py"))
        return is_one_of(f->function, functions, ML_ARRAY_SIZE(functions));
    return is_in(f, "torch/nn/modules/linear.py") && is_forward(f);
}

/* ---- Names --------------------------------------------------------------------- */

struct class_name {
    const char *from, *class_name;
};

/* Files of torch.nn.modules that define one class, or several of one kind. */
static const struct class_name classes_of_files[] = {
    {"batchnorm", "BatchNorm"},
    {"container", "Sequential"},
    {"conv", "Conv"},
    {"dropout", "Dropout"},
    {"flatten", "Flatten"},
    {"linear", "Linear"},
    {"rnn", "RNN"},
    {"sparse", "Embedding"},
    {"upsampling", "Upsample"},
};

/* In other files the function that a forward calls shows the class. */
static const struct class_name classes_of_functions[] = {
    {"cross_entropy", "CrossEntropyLoss"},
    {"gelu", "GELU"},
    {"group_norm", "GroupNorm"},
    {"layer_norm", "LayerNorm"},
    {"mse_loss", "MSELoss"},
    {"multi_head_attention_forward", "MultiheadAttention"},
    {"nll_loss", "NLLLoss"},
    {"relu", "ReLU"},
    {"rms_norm", "RMSNorm"},
    {"silu", "SiLU"},
    {"softmax", "Softmax"},
};

static const char *find_class(const struct class_name *list, size_t count, const char *from,
                              size_t len)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(list[i].from) == len && memcmp(list[i].from, from, len) == 0)
            return list[i].class_name;
    return NULL;
}

/* "a/train.py" -> "train" */
static const char *stem_of(const char *file, size_t *ret_len)
{
    const char *slash = strrchr(file, '/'), *stem = slash ? slash + 1 : file;
    size_t len = strlen(stem);

    *ret_len = len > 3 && ends_in(stem, ".py") ? len - 3 : len;
    return stem;
}

static uint32_t stem_name(struct ml_torch_places *p, const struct frame *f)
{
    size_t len;
    const char *stem = stem_of(f->file, &len);

    return ml_dict_string(p->dict, stem, len);
}

/* The class of a module, 0: unknown. */
static uint32_t class_of(struct ml_torch_places *p, uint32_t number, const struct frame *f)
{
    const char *dot = strrchr(f->function, '.'), *stem, *found;
    uint64_t learned;
    size_t len;

    if (dot) /* "Net.forward" */
        return ml_dict_string(p->dict, f->function, (size_t)(dot - f->function));
    if (ml_map_get(&p->class_of, number, &learned))
        return (uint32_t)learned;
    stem = stem_of(f->file, &len);
    found = is_in(f, "torch/nn/modules/")
                ? find_class(classes_of_files, ML_ARRAY_SIZE(classes_of_files), stem, len)
                : NULL;
    return found ? ml_dict_cstr(p->dict, found) : 0;
}

/* "torch::autograd::generated::AddmmBackward0::apply(...)" -> "AddmmBackward0" */
static uint32_t node_of(struct ml_torch_places *p, const struct frame *f)
{
    const char *end = strstr(f->function, "::apply("), *start = end;

    if (strncmp(f->function, "torch::autograd::", 17) != 0 || !end)
        return 0;
    while (start > f->function && start[-1] != ':')
        start--;
    return ml_dict_string(p->dict, start, (size_t)(end - start));
}

/* ---- One stack ------------------------------------------------------------------- */

struct walk {
    struct ml_torch_places *places;
    struct ml_torch_place place;
    uint32_t parent;              /* name of the module around */
    uint32_t modules;             /* since the last phase */
    uint8_t phase;                /* enum ml_phase, the innermost */
    bool called;                  /* a module, whose forward comes next */
    bool has_optimizer, has_node; /* their names are known */
    int r;
};

static void add(struct walk *w, enum memledger_scope_kind kind, uint32_t name, uint32_t class_name,
                uint32_t frame)
{
    struct ml_torch_call call = {(uint32_t)kind, name, class_name, frame};

    if (w->r == 0 && ml_vec_push(&w->places->calls, call) < 0)
        w->r = -ENOMEM;
    w->place.call_count++;
}

static void add_phase(struct walk *w, enum ml_phase phase)
{
    add(w, MEMLEDGER_SCOPE_PHASE, ml_dict_cstr(w->places->dict, ml_phase_name(phase)), 0, 0);
    if (w->place.phase == ML_PHASE_NONE)
        w->place.phase = (uint8_t)phase;
    w->phase = (uint8_t)phase;
    w->modules = 0;
    w->places->has_backward |= phase == ML_PHASE_BACKWARD;
}

/* Below the outermost module names are dotted, as in a recording. */
static uint32_t dotted(struct walk *w, uint32_t own)
{
    struct ml_dict *dict = w->places->dict;
    char name[512];
    int len;

    if (w->modules < 2)
        return own;
    len = snprintf(name, sizeof(name), "%s.%s", ml_dict_text(dict, w->parent),
                   ml_dict_text(dict, own));
    return len > 0 && (size_t)len < sizeof(name) ? ml_dict_string(dict, name, (size_t)len) : own;
}

static void add_module(struct walk *w, uint32_t number, const struct frame *f)
{
    uint32_t class_name, own, name;

    if (w->modules >= MODULES_DEEP)
        return;
    if (w->phase == ML_PHASE_BACKWARD)
        add_phase(w, ML_PHASE_RECOMPUTE);
    if (w->place.phase == ML_PHASE_NONE)
        w->place.phase = ML_PHASE_FORWARD;
    class_name = class_of(w->places, number, f);
    own = class_name ? class_name : stem_name(w->places, f);
    name = dotted(w, own);
    add(w, MEMLEDGER_SCOPE_MODULE, name, class_name, number + 1);
    w->modules++;
    w->parent = name;
}

static void look_at_optimizer(struct walk *w, const struct frame *f)
{
    if (w->phase == ML_PHASE_NONE && w->modules == 0 && is_optimizer_step(f))
        add_phase(w, ML_PHASE_OPTIMIZER);
    if (w->phase != ML_PHASE_OPTIMIZER || w->modules || w->has_optimizer ||
        !is(f->function, "step"))
        return;
    w->has_optimizer = true;
    add(w, MEMLEDGER_SCOPE_USER, stem_name(w->places, f), 0, 0);
}

static void look_at_backward(struct walk *w, const struct frame *f, bool outermost)
{
    uint32_t node;

    if (w->phase != ML_PHASE_BACKWARD && w->phase != ML_PHASE_RECOMPUTE &&
        is_backward(f, outermost))
        add_phase(w, ML_PHASE_BACKWARD);
    if (w->phase != ML_PHASE_BACKWARD || w->has_node || (node = node_of(w->places, f)) == 0)
        return;
    w->has_node = true;
    add(w, MEMLEDGER_SCOPE_OPERATOR, node, 0, 0);
}

static void look_at_module(struct walk *w, uint32_t number, const struct frame *f)
{
    bool forward = is_forward(f);

    if (is_module_call(f))
        w->called = true;
    if (!forward)
        return;
    if ((w->called || is_in(f, "torch/nn/modules/")) && !is_wrapper(f))
        add_module(w, number, f);
    w->called = false;
}

/* What a model is built from, as opposed to the temporaries of its initialisation. */
static void look_at_building(struct walk *w, const struct frame *f)
{
    if (w->phase != ML_PHASE_NONE || w->modules)
        w->place.category = MEMLEDGER_OTHER;
    else if (is_building(f))
        w->place.category = MEMLEDGER_PARAMETER;
    else if (is(f->function, "load_state_dict") && is_in(f, "torch/optim/optimizer.py"))
        w->place.category = MEMLEDGER_OPTIMIZER_STATE;
    else if (is_in(f, "torch/nn/init.py"))
        w->place.category = MEMLEDGER_OTHER;
}

static void look_at(struct walk *w, uint32_t number, bool outermost)
{
    struct frame f = frame_at(w->places, number);

    look_at_optimizer(w, &f);
    look_at_backward(w, &f, outermost);
    look_at_module(w, number, &f);
    look_at_building(w, &f);
}

static int list_frames(struct ml_torch_places *p, uint32_t stack)
{
    uint32_t frame;

    p->frames.len = 0;
    while (ml_dict_stack_at(p->dict, stack, &stack, &frame))
        if (ml_vec_push(&p->frames, frame) < 0)
            return -ENOMEM;
    return 0;
}

/* From the innermost frame on. */
static void find_workspace(struct ml_torch_places *p, struct ml_torch_place *place)
{
    const char *name;

    for (size_t i = 0; i < p->frames.len && place->workspace == 0; i++) {
        struct frame f = frame_at(p, p->frames.items[i]);

        if ((name = workspace_of(&f)))
            place->workspace = ml_dict_cstr(p->dict, name);
        place->multiplies = is_multiplication(&f);
        if (ends_in(f.file, ".py"))
            break;
    }
    if (place->workspace)
        place->category = MEMLEDGER_WORKSPACE;
}

static int find_place(struct ml_torch_places *p, uint32_t stack, struct ml_torch_place *ret)
{
    struct walk w = {.places = p, .place.first_call = (uint32_t)p->calls.len};

    if (list_frames(p, stack) < 0)
        return -ENOMEM;
    for (size_t i = p->frames.len; i-- > 0 && w.r == 0;)
        look_at(&w, p->frames.items[i], i + 1 == p->frames.len);
    find_workspace(p, &w.place);
    p->telling |= w.place.call_count > 0 || w.place.category != MEMLEDGER_OTHER;
    *ret = w.place;
    return w.r;
}

/* ---- All stacks -------------------------------------------------------------------- */

void ml_torch_places_release(struct ml_torch_places *p)
{
    ml_vec_release(&p->by_stack);
    ml_vec_release(&p->list);
    ml_vec_release(&p->calls);
    ml_vec_release(&p->frames);
    ml_map_release(&p->class_of);
}

/* The nearest frame in Python of a stack, beyond frames in C++. */
static bool find_python(const struct ml_torch_places *p, uint32_t stack, uint32_t *ret_frame)
{
    while (ml_dict_stack_at(p->dict, stack, &stack, ret_frame))
        if (ends_in(frame_at(p, *ret_frame).file, ".py"))
            return true;
    return false;
}

/* If the caller of that function of torch.nn.functional is a forward in torch.nn.modules. */
static int learn_class(struct ml_torch_places *p, uint32_t caller, const char *function)
{
    const char *found = find_class(classes_of_functions, ML_ARRAY_SIZE(classes_of_functions),
                                   function, strlen(function));
    struct frame f;
    uint32_t module;

    if (!found || !find_python(p, caller, &module))
        return 0;
    f = frame_at(p, module);
    if (!is_forward(&f) || !is_in(&f, "torch/nn/modules/"))
        return 0;
    return ml_map_put(&p->class_of, module, ml_dict_cstr(p->dict, found));
}

int ml_torch_places_learn(struct ml_torch_places *p)
{
    uint32_t caller, callee;
    int r = 0;

    for (uint32_t stack = 1; r == 0 && ml_dict_stack_at(p->dict, stack, &caller, &callee);
         stack++) {
        struct frame f = frame_at(p, callee);

        if (is_in(&f, "torch/nn/functional.py"))
            r = learn_class(p, caller, f.function);
    }
    return r;
}

static int make_room(struct ml_torch_places *p, uint32_t stack)
{
    size_t more = stack >= p->by_stack.len ? (size_t)stack + 1 - p->by_stack.len : 0;

    if (ml_vec_reserve(&p->by_stack, more) < 0)
        return -ENOMEM;
    if (more)
        memset(p->by_stack.items + p->by_stack.len, 0, more * sizeof(*p->by_stack.items));
    p->by_stack.len += more;
    return 0;
}

const struct ml_torch_place *ml_torch_place_of(struct ml_torch_places *p, uint32_t stack)
{
    struct ml_torch_place place;

    if (make_room(p, stack) < 0)
        return NULL;
    if (p->by_stack.items[stack] == 0) {
        if (find_place(p, stack, &place) < 0 || ml_vec_push(&p->list, place) < 0)
            return NULL;
        p->by_stack.items[stack] = (uint32_t)p->list.len;
    }
    return &p->list.items[p->by_stack.items[stack] - 1];
}
