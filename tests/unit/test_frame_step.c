/* test_frame_step.c: the walk finds the frames that libgcc's unwinder finds, in code of every
 * shape, on every kind of stack; where it cannot, it ends early.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unwind.h>
#include <cmocka.h>

#include "compiler.h"
#include "frame_step.h"
#include "unwind_shapes.h"

#define FRAMES_MAX 256
#define GUARD_MAX_BYTES (1 << 16)

struct frames {
    unsigned n;
    uintptr_t pc[FRAMES_MAX];
    bool interrupted[FRAMES_MAX];
};

static __thread struct ml_stack_range stack;
static __thread unsigned compared;
static enum ml_unwound expected_end = ML_UNWOUND_OUTERMOST;

static void put(struct frames *to, uintptr_t pc, bool interrupted)
{
    assert_true(to->n < FRAMES_MAX);
    to->pc[to->n] = pc;
    to->interrupted[to->n++] = interrupted;
}

static _Unwind_Reason_Code on_frame(struct _Unwind_Context *context, void *arg)
{
    int interrupted = 0;
    uintptr_t pc = _Unwind_GetIPInfo(context, &interrupted);

    if (pc)
        put(arg, pc, interrupted);
    return _URC_NO_REASON;
}

static enum ml_unwound walk(struct ml_native_frame f, struct frames *ret)
{
    uint32_t unloads = ml_row_unloads();
    enum ml_unwound step;

    ml_stack_cover(&stack, f.sp);
    do {
        put(ret, f.pc, f.is_interrupted);
        step = ml_unwind_step(&stack, unloads, &f);
    } while (step == ML_UNWOUND_DONE);
    return step;
}

/* The leaf of all shapes: walks twice, because the second time finds all rows in the table. */
static ML_NOINLINE void compare_here(void)
{
    struct ml_native_frame caller = ml_frame_of_caller(__builtin_frame_address(0));
    struct frames expected = {0};

    _Unwind_Backtrace(on_frame, &expected);
    for (int times = 0; times < 2; times++) {
        struct frames found = {0};

        assert_int_equal(walk(caller, &found), expected_end);
        assert_int_equal(found.n, expected.n - 1);
        assert_memory_equal(found.pc, expected.pc + 1, found.n * sizeof(*found.pc));
        assert_memory_equal(found.interrupted, expected.interrupted + 1, found.n);
    }
    compared++;
}

static const struct shapes *const all_shapes[] = {
    &shapes_o0, &shapes_o1, &shapes_o2, &shapes_o2_fp, &shapes_o3, &shapes_os,
};

static void call_shapes(const struct shapes *s)
{
    s->deep(compare_here, 0);
    s->deep(compare_here, 100);
    s->on_stack(compare_here, 77);
    s->on_stack(compare_here, 5000);
    s->aligned(compare_here, 333);
    s->variadic(compare_here, 3, 1.0, 2.0, 3.0);
    s->many_arguments(compare_here, 1, 2, 3, 4, 5, 6, 7, 8);
    s->through_libc(compare_here);
    s->large(compare_here);
}

static void call_all_shapes(void)
{
    for (size_t i = 0; i < ML_ARRAY_SIZE(all_shapes); i++)
        call_shapes(all_shapes[i]);
}

static void every_shape(void **state)
{
    (void)state;
    compared = 0;
    call_all_shapes();
    assert_true(compared >= 9 * ML_ARRAY_SIZE(all_shapes));
}

static void exceptions(void **state)
{
    (void)state;
    compared = 0;
    assert_int_equal(shape_throws(compare_here, 7), strlen("out of word"));
    assert_int_equal(compared, 9);
}

static void *thread_main(void *unused)
{
    (void)unused;
    call_all_shapes();
    return NULL;
}

static void threads(void **state)
{
    pthread_t threads[4];

    (void)state;
    for (size_t i = 0; i < ML_ARRAY_SIZE(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, thread_main, NULL), 0);
    for (size_t i = 0; i < ML_ARRAY_SIZE(threads); i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
}

/* ---- Signals ------------------------------------------------------------------- */

static void on_signal(int number)
{
    (void)number;
    shapes_o2.deep(compare_here, 3);
}

static void raise_signal(void)
{
    raise(SIGUSR1);
}

/* Not inside raise(): at the instruction that reads. */
static ML_NO_ADDRESS_SANITIZER void read_nowhere(void)
{
    static volatile int *volatile nowhere;

    *nowhere;
}

static sigjmp_buf after_fault;

static void on_fault(int number)
{
    on_signal(number);
    siglongjmp(after_fault, 1);
}

static void call_from_handlers(int flags)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = flags};

    compared = 0;
    assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
    shapes_o2.aligned(raise_signal, 50);
    shapes_o0.deep(raise_signal, 5);
    action.sa_handler = on_fault;
    assert_int_equal(sigaction(SIGSEGV, &action, NULL), 0);
    if (!sigsetjmp(after_fault, 1))
        shapes_o2.variadic(read_nowhere, 1, 2.0);
    signal(SIGSEGV, SIG_DFL);
    assert_int_equal(compared, 3);
}

static void signal_handlers(void **state)
{
    (void)state;
    call_from_handlers(0);
}

static void signal_handlers_on_their_own_stack(void **state)
{
    stack_t own = {.ss_size = 1 << 18}, none = {.ss_flags = SS_DISABLE};

    (void)state;
    own.ss_sp = malloc(own.ss_size);
    assert_int_equal(sigaltstack(&own, NULL), 0);
    call_from_handlers(SA_ONSTACK);
    assert_int_equal(sigaltstack(&none, NULL), 0);
    free(own.ss_sp);
}

/* ---- Stacks of the program's own -------------------------------------------------- */

static ucontext_t main_context, coroutine;

static void coroutine_main(void)
{
    shapes_o2.deep(compare_here, 5);
    shapes_os.aligned(compare_here, 100);
    swapcontext(&coroutine, &main_context);
}

static void coroutines(void **state)
{
    size_t bytes = 1 << 18;
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)state;
    assert_true(memory != MAP_FAILED);
    compared = 0;
    expected_end = ML_UNWOUND_LOST; /* libc's code that ends a coroutine has no unwind data */
    assert_int_equal(getcontext(&coroutine), 0);
    coroutine.uc_stack = (stack_t){.ss_sp = memory, .ss_size = bytes};
    makecontext(&coroutine, coroutine_main, 0);
    assert_int_equal(swapcontext(&main_context, &coroutine), 0);
    expected_end = ML_UNWOUND_OUTERMOST;
    assert_int_equal(compared, 2);
    munmap(memory, bytes);
}

/* Memory below the main thread's control block is none of its stack: the program may unmap it. */
static void memory_of_others(void **state)
{
    uintptr_t below = ((uintptr_t)__builtin_thread_pointer() - 64) & ~UINT64_C(7);
    struct ml_stack_range range = {0};

    (void)state;
    ml_stack_cover(&range, below);
    assert_false(ml_stack_covers(&range, below));
    ml_stack_cover(&range, (uintptr_t)__builtin_frame_address(0));
    assert_true(ml_stack_covers(&range, (uintptr_t)__builtin_frame_address(0)));
    assert_false(ml_stack_covers(&range, below));
}

/* Where libc says that the stack of this thread begins, and what its walk believes. */
static void *compare_bounds(void *ret_lowest)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    struct ml_stack_range range = {0};
    pthread_attr_t attributes;
    size_t bytes = 0;
    void *lowest = NULL;

    assert_int_equal(pthread_getattr_np(pthread_self(), &attributes), 0);
    assert_int_equal(pthread_attr_getstack(&attributes, &lowest, &bytes), 0);
    pthread_attr_destroy(&attributes);
    *(void **)ret_lowest = lowest;
    ml_stack_cover(&range, here);
    assert_true(ml_stack_covers(&range, here));
    assert_true(range.begin <= here && range.end <= (uintptr_t)lowest + bytes);
    /* The guard pages are in the same block. */
    assert_true(range.lowest <= (uintptr_t)lowest);
    assert_true((uintptr_t)lowest - range.lowest <= GUARD_MAX_BYTES);
    ml_stack_cover(&range, range.lowest - 64);
    assert_false(ml_stack_covers(&range, range.lowest - 64));
    return NULL;
}

/* No memory below a thread's stack belongs to it, whether there is a guard page or not. */
static void bounds_of_threads(void **state)
{
    enum { PLAIN, BARE, SMALL, GUARDED, GIVEN, ODD, KINDS };
    static char given[2 << 20] __attribute__((aligned(16)));
    void *lowest[KINDS] = {0};

    (void)state;
    for (int i = 0; i < KINDS; i++) {
        pthread_attr_t attributes;
        pthread_t thread;

        pthread_attr_init(&attributes);
        if (i == BARE)
            assert_int_equal(pthread_attr_setguardsize(&attributes, 0), 0);
        if (i == SMALL)
            assert_int_equal(pthread_attr_setstacksize(&attributes, 1 << 18), 0);
        if (i == GUARDED)
            assert_int_equal(pthread_attr_setguardsize(&attributes, GUARD_MAX_BYTES), 0);
        if (i == GIVEN || i == ODD)
            assert_int_equal(pthread_attr_setstack(&attributes, given + (i == ODD ? 4104 : 0),
                                                   1 << 20 | (i == ODD ? 8 : 0)),
                             0);
        assert_int_equal(pthread_create(&thread, &attributes, compare_bounds, &lowest[i]), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
        pthread_attr_destroy(&attributes);
    }
    assert_ptr_equal(lowest[GIVEN], given);
    assert_ptr_equal(lowest[ODD], given + 4104);
}

/* ---- Ends --------------------------------------------------------------------------- */

/* push %rbp; mov %rsp, %rbp; call *%rdi; pop %rbp; ret */
static const uint8_t generated[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};

static uintptr_t generated_at;

static ML_NOINLINE void expect_early_end(void)
{
    struct frames found = {0};
    enum ml_unwound end = walk(ml_frame_of_caller(__builtin_frame_address(0)), &found);

    assert_int_equal(end, ML_UNWOUND_LOST);
    assert_int_equal(found.n, 1);
    assert_int_equal(found.pc[0] - generated_at, 6);
    compared++;
}

static void generated_code_ends_the_stack(void **state)
{
    void *code =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)state;
    assert_true(code != MAP_FAILED);
    memcpy(code, generated, sizeof(generated));
    generated_at = (uintptr_t)code;
    compared = 0;
    ((void (*)(shape_leaf *))generated_at)(expect_early_end);
    assert_int_equal(compared, 1);
    munmap(code, 4096);
}

/* Whatever the registers contain, a walk ends and reads nothing that it may not. */
static void senseless_registers(void **state)
{
    uintptr_t pc = (uintptr_t)__builtin_return_address(0);
    uintptr_t sp = (uintptr_t)__builtin_frame_address(0);
    const uintptr_t values[] = {0,
                                1,
                                8,
                                4096,
                                sp,
                                sp + 1,
                                sp + (1 << 30),
                                UINTPTR_MAX - 7,
                                (uintptr_t)-1,
                                pc,
                                (uintptr_t)1 << 47,
                                (uintptr_t)1 << 63};

    (void)state;
    for (size_t i = 0; i < 12 * 12 * 12; i++) {
        struct ml_native_frame f = {values[i % 12], values[i / 12 % 12], values[i / 144],
                                    .is_interrupted = i & 1};
        for (int steps = 0; steps < 64; steps++) {
            if (ml_unwind_step(&stack, 0, &f) != ML_UNWOUND_DONE)
                break;
        }
    }
}

static int init(void **state)
{
    (void)state;
    ml_unwind_init();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shape),
        cmocka_unit_test(exceptions),
        cmocka_unit_test(threads),
        cmocka_unit_test(signal_handlers),
        cmocka_unit_test(signal_handlers_on_their_own_stack),
        cmocka_unit_test(coroutines),
        cmocka_unit_test(memory_of_others),
        cmocka_unit_test(bounds_of_threads),
        cmocka_unit_test(generated_code_ends_the_stack),
        cmocka_unit_test(senseless_registers),
    };

    return cmocka_run_group_tests(tests, init, NULL);
}
