/* event.h: the event model. Every source records these kinds and every report reads them;
 * docs/trace-format.md has the table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_EVENT_H
#define ML_EVENT_H

#include <stdbool.h>
#include <stdint.h>

enum ml_kind {
    ML_ALLOC = 1,
    ML_FREE = 2,
    ML_FREE_RANGE = 3,
    ML_ALLOC_EX = 4,
    ML_MOVE = 5,
    ML_MOVE_FAILED = 6,
    ML_LABEL = 7,
    ML_PUSH = 8,
    ML_POP = 9,
    ML_MARK = 10,
    ML_SAMPLE = 11,
    ML_COUNTER = 12,
    ML_START = 13,
    ML_STOP = 14,
    ML_MARKER = 15,
    ML_LOST = 16,
    ML_PROCESS_END = 17,
    ML_THREAD_END = 18,
    ML_OOM = 19,
    ML_KIND_COUNT = 20, /* kinds are below this; a file's kind byte has room for 31 */
};

enum ml_lost_reason {
    ML_LOST_RING_FULL = 1,
    ML_LOST_NOT_WRITTEN = 2,
    ML_LOST_DAMAGED = 3,
    ML_LOST_NOT_FOLLOWED = 4, /* each: one block or object */
    ML_LOST_NAMES_FOLDED = 5, /* each: a use of a name that did not fit */
    ML_LOST_SPACES = 6,       /* each: a space beyond the limit */
    ML_LOST_DETAILS = 7,      /* each: a stack, scope or label that a table had no room for */
    ML_LOST_REASONS = 8,
};

/* Whether this reason means that events, or their ends, are missing from the trace. */
static inline bool ml_lost_is_events(uint64_t reason)
{
    return reason != ML_LOST_NAMES_FOLDED && reason != ML_LOST_SPACES && reason != ML_LOST_DETAILS;
}

/* A mark's kind besides those of memledger.h: the thread runs the next node of a backward pass,
 * in the scope of the last one. A node in another scope is visible without a mark. */
#define ML_MARK_NODE 3
/* Another one: from here on the thread's blocks hold numbers of the type that the mark names, such
 * as "float32"; without a name, it is not known. Smaller blocks than this have no type: a number
 * in an expression is a block of its own, often of another type than the tensors around it, and a
 * mark for each would be as much as all blocks. */
#define ML_MARK_TYPE 4
#define ML_TYPED_BYTES_MIN 64

/* The recording was paused, or resumed. In between there are no allocations, except those that are
 * still live at the end; see turns.h. */
#define ML_MARK_PAUSE 5
#define ML_MARK_RESUME 6

/* Memory that is older than the recording has been recorded: allocations before this mark may be
 * of any age. */
#define ML_MARK_OLDER 7

/* "step", "epoch", "phase", "node", …; "unknown" for a kind of a later version. */
const char *ml_mark_name(uint64_t kind);

/* Whether a mark of this kind begins or ends a pause. */
static inline bool ml_mark_is_pause(uint64_t kind)
{
    return kind == ML_MARK_PAUSE || kind == ML_MARK_RESUME;
}

/* Whether it is a mark of the recording itself: of all threads and processes. */
static inline bool ml_mark_is_of_recording(uint64_t kind)
{
    return ml_mark_is_pause(kind) || kind == ML_MARK_OLDER;
}

/* Settings of a trace that has such marks: their number, the time between them, and when the pause
 * that goes on began; "": none goes on, and the time includes all of them. */
#define ML_SETTING_PAUSES "pauses"
#define ML_SETTING_PAUSED_NS "paused_ns"
#define ML_SETTING_PAUSED_SINCE_NS "paused_since_ns"
/* Setting of a trace of malloc that began in the middle of the program: `memledger attach --heap`.
 * Frees of older blocks are in it. */
#define ML_SETTING_BEGAN_LATE "heap_began_late"
/* Setting of a trace that began while its program ran, and may have ended before it: `memledger
 * attach`, memledger.start(). */
#define ML_SETTING_JOINED "joined"
/* How the calls of the CUDA driver were recorded, and its value in a trace of `memledger attach`.
 */
#define ML_SETTING_CUDA "cuda"
#define ML_CUDA_ATTACHED "attached"

/* The name of a step's mark that memledger inferred: see steps.h. */
/* The class of a module that is a function of the program: one that goes on with the results of a
 * model, such as a training loop that computes the loss. */
#define ML_FUNCTION_CLASS "function"

#define ML_STEP_AUTOMATIC "automatic"
#define ML_STEP_EVALUATION "evaluation" /* the automatic step of that number has not begun yet */

/* The names of the spaces for the malloc family, anonymous mappings, PyTorch's allocators and
 * MXNet's storage. */
#define ML_HEAP_SPACE_NAME "malloc"
#define ML_MAP_SPACE_NAME "mmap"
#define ML_TORCH_SPACE_NAME "torch"
#define ML_MXNET_SPACE_NAME "mxnet"

/* Devices of host memory that is not the process's own: tensors in mapped files, whose pages the
 * kernel can drop and read again, and memory that processes share. */
#define ML_FILES_DEVICE "mapped files"
#define ML_SHARED_DEVICE "shared memory"

/* Between the class of an outermost module and its number: "Loss#2". */
#define ML_MODULE_NUMBER_MARK "#"

/* Stands for a model that its weights come from: a second copy, while a model is loaded. */
#define ML_LOADING_MODULE "loading"

/* Stands for models that were built and dropped before anything used them. */
#define ML_UNUSED_MODULE "unused"

/* At the end of the label of a workspace that a library keeps and uses for every layer. */
#define ML_SHARED_WORKSPACE " (shared)"

/* What the label of memory that the driver gave to NCCL begins with; the communicator's number in
 * its process and more follow. */
#define ML_NCCL_LABEL "NCCL, communicator "

/* The second argument of a sample. Above these bits, from ML_SAMPLE_PROCESS_SHIFT on, 1 + the
 * process of its last value; 0: the sum over all processes that are not recorded. */
enum ml_sample_bits {
    ML_SAMPLE_USED = 1, /* the value is known; the same for the next three */
    ML_SAMPLE_FREE = 2,
    ML_SAMPLE_TOTAL = 4,
    ML_SAMPLE_BY_PROCESS = 8,
    ML_SAMPLE_INSIDE = 16, /* read by a recorded thread right after its driver call */
    ML_SAMPLE_LAST = 32,   /* … before its process frees everything and exits */
    ML_SAMPLE_SHARE = 64,  /* the process's value is its proportional set size (PSS) */
    /* `used` and `total` are the process's address space and its limit, RLIMIT_AS. Never together
     * with the bits of these values. */
    ML_SAMPLE_ADDRESSES = 128,
};
#define ML_SAMPLE_PROCESS_SHIFT 8

#define ML_EVENT_ARGS 6

/* More bytes than one block, or a device, can have. Readers reduce larger numbers to this, so
 * that sums over a damaged file do not overflow. */
#define ML_BYTES_MAX (UINT64_C(1) << 50)

/* One event, decoded. Numbers (thread, space, scope, stack, strings in args) are those of the
 * file's definitions. Fields that a kind does not use are 0, except thread, space and scope,
 * which keep their last values. */
struct ml_event {
    uint64_t time_ns;
    uint64_t addr;
    uint64_t size;
    uint32_t thread;
    uint32_t space;
    uint32_t scope;
    uint32_t stack;
    uint8_t kind;
    uint64_t args[ML_EVENT_ARGS];
};

/* What each kind carries besides time and context. */
enum ml_shape_bits {
    ML_HAS_ADDR = 1,
    ML_HAS_SIZE = 2,
    ML_HAS_STACK = 4,
};

struct ml_shape {
    uint8_t bits;
    uint8_t args;
    const char *name;
};

/* Indexed by enum ml_kind; name is NULL for a kind that does not exist. */
extern const struct ml_shape ml_shapes[32];

#endif
