/* attached.c: see attached.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "attached.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cuda_attach.h"
#include "live_api.h"
#include "loaded_symbols.h"
#if ML_WITH_MXNET
#include "mxnet_older.h"
#endif
#include "recorder.h"

#define EXPORT __attribute__((visibility("default")))
#define LINE_ROOM 512
#define MAIN_MS 3000 /* for an answer of Python's main thread */
#define CALLS_MAX 8  /* that it has not answered */
#define CODE_ROOM (8 * LINE_ROOM)

enum line { LINE_SESSION, LINE_LIBRARY, LINE_PACKAGE, LINE_TRACE, LINES };

struct request {
    char line[LINES][LINE_ROOM];
};

/* heap_late.h; libmemledger.so has none. */
struct heap_late {
    void (*begin)(void);
    void (*end)(void);
};

extern const struct ml_live_api memledger_live_v1;

static const struct heap_late *heap_late(void)
{
    const struct link_map *own = ml_symbols_own_object();

    return own ? ml_symbol_in(own->l_addr, own->l_ld, "memledger_heap_late_v1") : NULL;
}

static bool parse(const char *text, struct request *ret)
{
    for (int i = 0; i < LINES; i++) {
        size_t len = strcspn(text, "\n");
        if (len >= LINE_ROOM)
            return false;
        memcpy(ret->line[i], text, len);
        ret->line[i][len] = '\0';
        text += len + (text[len] == '\n');
    }
    return true;
}

/* ---- Python ---------------------------------------------------------------- */

struct python {
    int (*is_initialized)(void);
    int (*ensure)(void);
    void (*release)(int);
    int (*run)(const char *, void *);
    int (*add_call)(int (*)(void *), void *);
};

static bool find_python(struct python *ret)
{
    *ret = (struct python){
        .is_initialized = (int (*)(void))ml_symbol_anywhere("Py_IsInitialized"),
        .ensure = (int (*)(void))ml_symbol_anywhere("PyGILState_Ensure"),
        .release = (void (*)(int))ml_symbol_anywhere("PyGILState_Release"),
        .run = (int (*)(const char *, void *))ml_symbol_anywhere("PyRun_SimpleStringFlags"),
        .add_call = (int (*)(int (*)(void *), void *))ml_symbol_anywhere("Py_AddPendingCall"),
    };
    return ret->is_initialized && ret->ensure && ret->release && ret->run && ret->add_call &&
           ret->is_initialized();
}

/* A path inside quotation marks of Python: no character that ends or escapes it. */
static bool is_plain(const char *text)
{
    return !strpbrk(text, "\"\\\n");
}

static _Atomic pid_t attaching; /* in this process, not in a parent that forked meanwhile */
static struct request last;     /* has no session: there was none, or it was ended */

/* One piece of code for Python's main thread, which may come to it late: the recording has begun
 * without it then, or is over. */
enum turn { TURN_FREE, TURN_WAITS, TURN_TAKEN, TURN_DONE, TURN_LATE };

struct main_call {
    const struct python *python;
    char code[CODE_ROOM];
    char session[LINE_ROOM];
    pid_t pid;
    _Atomic int turn;
};

static bool take_turn(struct main_call *call, int to)
{
    int waits = TURN_WAITS;

    return atomic_compare_exchange_strong(&call->turn, &waits, to);
}

static int run_in_main(void *arg);

/* A child of the process has the call, too. While an attach or a detach goes on, the main thread
 * comes to it once more after its next instructions. */
static void run_late(struct main_call *call)
{
    pid_t own = getpid();

    if (call->pid == own && atomic_exchange(&attaching, own) == own) {
        if (!call->python->add_call(run_in_main, call))
            return;
    } else if (call->pid == own) {
        if (ml_recorder_recording() && !strcmp(call->session, last.line[LINE_SESSION]))
            call->python->run(call->code, NULL);
        atomic_store(&attaching, 0);
    }
    atomic_store(&call->turn, TURN_FREE); /* pairs with the load in free_call */
}

static int run_in_main(void *arg)
{
    struct main_call *call = arg;

    if (take_turn(call, TURN_TAKEN)) {
        call->python->run(call->code, NULL);
        atomic_store(&call->turn, TURN_DONE); /* pairs with the load in wait_for_main */
    } else {
        run_late(call);
    }
    return 0;
}

static void wait_ms(void)
{
    syscall(SYS_nanosleep, &(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* @return whether the code has run; otherwise it runs when the main thread comes to it */
static bool wait_for_main(struct main_call *call)
{
    for (int waited_ms = 0; atomic_load(&call->turn) != TURN_DONE; waited_ms++) {
        if (waited_ms >= MAIN_MS && take_turn(call, TURN_LATE))
            return false;
        wait_ms();
    }
    atomic_store(&call->turn, TURN_FREE);
    return true;
}

/* @return NULL: the main thread has come to none of them */
static struct main_call *free_call(void)
{
    static struct main_call calls[CALLS_MAX];

    for (size_t i = 0; i < CALLS_MAX; i++)
        if (atomic_load(&calls[i].turn) == TURN_FREE)
            return &calls[i];
    return NULL;
}

/* The package looks at all of Python's objects. PyTorch expects no other reference to a
 * tensor that it is about to free, as it does in other threads during a backward pass; so that is
 * done where the program could do it, between two of the main thread's instructions.
 * @return ML_ATTACHED if the package has begun the recording; otherwise the recorder has to */
static int begin_in_python(const struct python *found, const struct request *r)
{
    static struct python python;
    struct main_call *call = free_call();

    if (!call || !r->line[LINE_PACKAGE][0])
        return ML_ATTACHED_NAMELESS;
    for (int i = 0; i < LINES; i++)
        if (!is_plain(r->line[i]))
            return ML_ATTACHED_NAMELESS;
    python = *found;
    call->python = &python;
    call->pid = getpid();
    memcpy(call->session, r->line[LINE_SESSION], sizeof(call->session));
    snprintf(call->code, sizeof(call->code),
             "def _memledger_attach():\n"
             "    import sys\n"
             "    sys.path.insert(0, \"%s\")\n"
             "    try:\n"
             "        try:\n"
             "            from memledger import _attached\n"
             "        finally:\n"
             "            if \"%s\" in sys.path:\n"
             "                sys.path.remove(\"%s\")\n"
             "        _attached.begin(\"%s\", \"%s\", \"%s\", \"%s\")\n"
             "    except KeyboardInterrupt:\n" /* for the program */
             "        __import__(\"_thread\").interrupt_main()\n"
             "    except BaseException:\n" /* SystemExit would end it */
             "        return\n"
             "_memledger_attach()\n"
             "del _memledger_attach\n",
             r->line[LINE_PACKAGE], r->line[LINE_PACKAGE], r->line[LINE_PACKAGE],
             r->line[LINE_SESSION], r->line[LINE_LIBRARY], r->line[LINE_TRACE],
             r->line[LINE_PACKAGE]);
    atomic_store(&call->turn, TURN_WAITS);
    if (python.add_call(run_in_main, call)) {
        atomic_store(&call->turn, TURN_FREE);
        return ML_ATTACHED_NAMELESS;
    }
    if (!wait_for_main(call))
        return ML_ATTACHED_NAMES_LATER;
    return ml_recorder_recording() ? ML_ATTACHED : ML_ATTACHED_NAMELESS;
}

/* ---- Both --------------------------------------------------------------------- */

/* The command gives up after some seconds, and may have ended the collector when the recording
 * begins. */
static bool is_abandoned(void)
{
    char page[LINE_ROOM + 8];
    int fd;

    if (!last.line[LINE_SESSION][0])
        return false;
    snprintf(page, sizeof(page), "%s/page", last.line[LINE_SESSION]);
    fd = open(page, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT;
    close(fd);
    return false;
}

/* All records stop at one instant, in leave(): a hook that is taken away while others record would
 * miss the frees of blocks whose allocations are recorded.
 * @joined  whether there is a recording to leave */
static int end(bool joined)
{
    struct python python;
    bool has_python = find_python(&python);
    int state = has_python ? python.ensure() : 0;
    int r = 0;

    if (joined && has_python)
        python.run("if 'memledger._attached' in __import__('sys').modules:\n"
                   "    __import__('sys').modules['memledger._attached'].end()\n",
                   NULL);
    ml_cuda_attach_say_last();
    if (joined)
        r = memledger_live_v1.leave();
    ml_cuda_attach_end();
    if (joined && heap_late())
        heap_late()->end();
    memledger_live_v1.end_attach();
    if (has_python)
        python.release(state);
    last.line[LINE_SESSION][0] = '\0';
    return r;
}

static int begin_alone(const struct request *r)
{
    if (memledger_live_v1.switch_on(true))
        memledger_live_v1.patch_torch();
    return memledger_live_v1.join(r->line[LINE_SESSION]);
}

static int32_t attach(const char *text)
{
    struct python python;
    int named = ML_ATTACHED, result = 0;
    bool has_python;

    if (ml_recorder_recording() && is_abandoned())
        end(true);
    if (ml_recorder_recording())
        return -EBUSY;
    if (!parse(text, &last))
        return -ENAMETOOLONG;
    ml_cuda_attach_prepare();
#if ML_WITH_MXNET
    ml_mxnet_prepare();
#endif
    has_python = find_python(&python);
    if (has_python)
        named = begin_in_python(&python, &last);
    if (!has_python || named != ML_ATTACHED)
        result = begin_alone(&last);
    if (!result && is_abandoned()) {
        end(true);
        return -ETIMEDOUT;
    }
    if (result) {
        end(false);
        return result;
    }
    if (heap_late() && ml_session->heap != ML_HEAP_OFF)
        heap_late()->begin();
    ml_cuda_attach_adopt();
    ml_recorder_mark_older();
    return named;
}

/* The command gives up after some seconds, and may come again while its first thread still waits
 * for Python. */
EXPORT int32_t memledger_attach_v1(const char *text)
{
    int32_t result;

    if (atomic_exchange(&attaching, getpid()) == getpid())
        return -EALREADY;
    result = attach(text);
    atomic_store(&attaching, 0);
    return result;
}

/* Not while an attach goes on: it would switch on what this has switched off. */
EXPORT int32_t memledger_detach_v1(const char *text)
{
    int32_t result;

    (void)text;
    for (int waited_ms = 0; atomic_exchange(&attaching, getpid()) == getpid(); waited_ms++) {
        if (waited_ms >= MAIN_MS)
            return -EALREADY;
        wait_ms();
    }
    result = end(true);
    atomic_store(&attaching, 0);
    return result;
}
