/* nvtx_calls.c: a program annotated with NVTX, compiled with NVIDIA's headers by
 * test_nvtx.py.
 *
 *     nvtx_calls CASE
 *
 * Says on stdout what NVTX's functions returned, one line for each place in the
 * program, and labels a block with the name of the place, so that the trace says
 * in which scope the program was there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <nvtx3/nvToolsExt.h>

#include "memledger/memledger.h"

static memledger_space space;

/* The program is here. */
static void place(const char *name)
{
    static uintptr_t next = 1 << 20;
    void *block = (void *)__atomic_fetch_add(&next, 64, __ATOMIC_RELAXED);

    memledger_alloc(space, block, 32);
    memledger_label(space, block, name, MEMLEDGER_OTHER);
    memledger_free(space, block);
}

static void at(const char *name, int level)
{
    printf("%s %d\n", name, level);
    place(name);
}

static nvtxEventAttributes_t event(void)
{
    nvtxEventAttributes_t e;

    memset(&e, 0, sizeof(e));
    e.version = NVTX_VERSION;
    e.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    return e;
}

static nvtxEventAttributes_t text(const char *message)
{
    nvtxEventAttributes_t e = event();

    e.messageType = NVTX_MESSAGE_TYPE_ASCII;
    e.message.ascii = message;
    return e;
}

static nvtxEventAttributes_t registered(nvtxStringHandle_t message)
{
    nvtxEventAttributes_t e = event();

    e.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    e.message.registered = message;
    return e;
}

static int push_in(nvtxDomainHandle_t domain, const char *message)
{
    nvtxEventAttributes_t e = text(message);

    return nvtxDomainRangePushEx(domain, &e);
}

/* ---- Cases -------------------------------------------------------------- */

static void nest(void)
{
    nvtxEventAttributes_t e = text("third");

    at("A", nvtxRangePushA("first"));
    at("W", nvtxRangePushW(L"second"));
    at("Ex", nvtxRangePushEx(&e));
    at("popped Ex", nvtxRangePop());
    at("popped W", nvtxRangePop());
    at("popped A", nvtxRangePop());
    at("nothing left", nvtxRangePop());
    at("again", nvtxRangePushA("fourth"));
    at("done", nvtxRangePop());
}

static void domains(void)
{
    nvtxDomainHandle_t a = nvtxDomainCreateA("A");
    nvtxDomainHandle_t b = nvtxDomainCreateW(L"B");

    printf("same %d\n", a == nvtxDomainCreateA("A"));
    printf("other %d\n", a != b && a && b);
    at("a0", push_in(a, "x"));
    at("b0", push_in(b, "y"));
    at("a1", push_in(a, "z"));
    at("none", nvtxRangePushA("w"));
    at("b1", push_in(b, "v"));
    at("popped a1", nvtxDomainRangePop(a));
    at("popped b1", nvtxDomainRangePop(b));
    at("popped a0", nvtxDomainRangePop(a));
    at("no more a", nvtxDomainRangePop(a));
    at("popped none", nvtxRangePop());
    at("a again", push_in(a, "u"));
    at("popped b0", nvtxDomainRangePop(b));
    at("popped a again", nvtxDomainRangePop(a));
    nvtxDomainDestroy(b);
    at("b is back", push_in(nvtxDomainCreateA("B"), "t"));
    at("popped b again", nvtxDomainRangePop(nvtxDomainCreateA("B")));
}

static void strings(void)
{
    nvtxDomainHandle_t domain = nvtxDomainCreateA("lib");
    nvtxStringHandle_t narrow = nvtxDomainRegisterStringA(domain, "load");
    nvtxStringHandle_t wide = nvtxDomainRegisterStringW(domain, L"st\u00f6re");
    nvtxStringHandle_t plain = nvtxDomainRegisterStringA(NULL, "plain");
    nvtxEventAttributes_t e = registered(narrow);

    printf("handles %d\n", narrow && wide && plain && narrow != wide);
    printf("same %d\n", narrow == nvtxDomainRegisterStringA(domain, "load"));
    at("narrow", nvtxDomainRangePushEx(domain, &e));
    e = registered(wide);
    at("wide", nvtxDomainRangePushEx(domain, &e));
    e = registered(plain);
    at("plain", nvtxRangePushEx(&e));
    e = registered(narrow);
    at("elsewhere", nvtxRangePushEx(&e));
}

static void categories(void)
{
    nvtxDomainHandle_t domain = nvtxDomainCreateA("lib");
    nvtxStringHandle_t handle = nvtxDomainRegisterStringA(domain, "load");
    nvtxEventAttributes_t e = registered(handle);

    nvtxNameCategoryA(1, "compute");
    nvtxDomainNameCategoryW(domain, 1, L"input");
    e.category = 1;
    at("of the domain", nvtxDomainRangePushEx(domain, &e));
    e = text("gemm");
    e.category = 1;
    at("of the default", nvtxRangePushEx(&e));
    e.category = 7;
    at("without a name", nvtxRangePushEx(&e));
    nvtxNameCategoryA(1, "mathematics");
    e.category = 1;
    at("another name", nvtxRangePushEx(&e));
    nvtxMarkEx(&e);
    nvtxRangeEnd(nvtxRangeStartEx(&e));
}

static void unicode(void)
{
    static const wchar_t broken[] = {'a', 0xd800, 0x110000, 'b', 0};
    static wchar_t endless[5000];

    for (int i = 0; i < 4999; i++)
        endless[i] = 0x20ac;
    at("letters", nvtxRangePushW(L"na\u00efve \u4e2d\u6587 \U0001f600"));
    at("bytes", nvtxRangePushA("na\xc3\xafve"));
    at("broken", nvtxRangePushW(broken));
    at("endless", nvtxRangePushW(endless));
    at("nothing", nvtxRangePushW(L""));
}

static void odd(void)
{
    nvtxEventAttributes_t e = event();

    at("null A", nvtxRangePushA(NULL));
    at("null W", nvtxRangePushW(NULL));
    at("null Ex", nvtxRangePushEx(NULL));
    at("empty", nvtxRangePushA(""));
    at("no message", nvtxRangePushEx(&e));
    e.messageType = 77;
    e.message.ascii = "what?";
    at("unknown type", nvtxRangePushEx(&e));
    e = text("cut");
    e.size = 32;
    at("short", nvtxRangePushEx(&e));
    e = registered((nvtxStringHandle_t)(uintptr_t)0x1234);
    at("no handle", nvtxRangePushEx(&e));
    at("no domain", push_in((nvtxDomainHandle_t)(uintptr_t)-1, "stray"));
    at("null domain", push_in(nvtxDomainCreateA(NULL), "nameless"));
    nvtxRangeEnd(0);
    nvtxRangeEnd(UINT64_MAX);
    nvtxMarkA(NULL);
    nvtxRangeEnd(nvtxRangeStartA(NULL));
    printf("errno %d\n", errno);
}

/* What PyTorch's emit_nvtx pushes. */
static void pytorch(void)
{
    at("forward", nvtxRangePushA("aten::conv2d, seq = 7, op_id = 12"));
    at("shapes", nvtxRangePushA("aten::add, op_id = 13, sizes = [[2, 3], [3]]"));
    at("inputs", nvtxRangePushA("aten::mul, op_id = 14, input_op_ids = [(1,0)]"));
    at("user", nvtxRangePushA("load, then store"));
}

static void deep(void)
{
    int last = 0, levels_wrong = 0, negative = 0;

    for (int i = 0; i < 20000; i++) {
        int level = nvtxRangePushA("deeper");
        if (level < 0)
            negative++;
        else if (level != i)
            levels_wrong++;
        else
            last = level;
    }
    printf("last %d\nwrong %d\nrefused %d\n", last, levels_wrong, negative);
    for (int i = 0; i < negative; i++)
        levels_wrong += nvtxRangePop() >= 0;
    for (int i = last; i >= 0; i--)
        levels_wrong += nvtxRangePop() != i;
    printf("wrong %d\n", levels_wrong);
    at("out", nvtxRangePop());
}

static void many_domains(void)
{
    char name[32];

    for (int i = 0; i < 300; i++) {
        nvtxDomainHandle_t domain;
        snprintf(name, sizeof(name), "domain %d", i);
        domain = nvtxDomainCreateA(name);
        if (!domain || push_in(domain, "x") < 0 || nvtxDomainRangePop(domain) < 0)
            printf("domain %d fails\n", i);
    }
    push_in(nvtxDomainCreateA("domain 100"), "kept");
    place("kept");
    push_in(nvtxDomainCreateA("domain 299"), "beyond");
    place("beyond");
}

/* ---- Threads, processes, signals ---------------------------------------- */

#define THREADS 8

static void *thread(void *arg)
{
    nvtxDomainHandle_t domain = nvtxDomainCreateA("shared");
    char name[32];

    snprintf(name, sizeof(name), "thread %d", (int)(intptr_t)arg);
    for (int i = 0; i < 1000; i++) {
        if (nvtxRangePushA(name) != 0 || push_in(domain, "inner") != 0)
            printf("bad level in %s\n", name);
        if (i == 500)
            place(name);
        /* Out of order, to have ranges taken out from below. */
        if (nvtxRangePop() != 0 || nvtxDomainRangePop(domain) != 0)
            printf("bad level in %s\n", name);
    }
    if (nvtxRangePop() >= 0)
        printf("one too many in %s\n", name);
    nvtxRangePushA("left open");
    return NULL;
}

static void threads(void)
{
    pthread_t ids[THREADS];

    for (intptr_t i = 0; i < THREADS; i++)
        pthread_create(&ids[i], NULL, thread, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(ids[i], NULL);
}

static void *end_range(void *arg)
{
    nvtxRangeEnd(*(nvtxRangeId_t *)arg);
    return NULL;
}

static void spans(void)
{
    nvtxDomainHandle_t domain = nvtxDomainCreateA("io");
    nvtxEventAttributes_t e = text("read");
    nvtxRangeId_t first = nvtxRangeStartA("one");
    nvtxRangeId_t second = nvtxRangeStartW(L"one");
    nvtxRangeId_t third = nvtxDomainRangeStartEx(domain, &e);
    nvtxRangeId_t fourth;
    pthread_t id;

    nvtxRangePushA("scope");
    place("in the scope");
    nvtxRangeEnd(first);
    fourth = nvtxRangeStartA("one");
    nvtxRangeEnd(first); /* has ended */
    pthread_create(&id, NULL, end_range, &third);
    pthread_join(id, NULL);
    nvtxDomainRangeEnd(NULL, second);
    nvtxRangeEnd(fourth);
    nvtxMarkA("here");
    nvtxMarkW(L"th\u00e9re");
    e = text("in io");
    nvtxDomainMarkEx(domain, &e);
    printf("unique %d\n", first && second && third && fourth && first != second && first != third &&
                              second != third && first != fourth && second != fourth);
    at("popped", nvtxRangePop());
}

static void forks(void)
{
    nvtxDomainHandle_t domain = nvtxDomainCreateA("lib");
    pid_t pid;

    at("parent", nvtxRangePushA("outer"));
    fflush(stdout);
    pid = fork();
    if (!pid) {
        at("child", nvtxRangePushA("inner"));
        at("child in domain", push_in(domain, "work"));
        at("child popped", nvtxRangePop());
        at("child popped inherited", nvtxRangePop());
        at("child has no more", nvtxRangePop());
        at("child left domain", nvtxDomainRangePop(domain));
        fflush(stdout);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    at("parent after", nvtxRangePop());
}

static volatile sig_atomic_t handled, wrong;

static void handle(int number)
{
    int level = nvtxRangePushA("in a handler");

    (void)number;
    if (nvtxRangePop() < 0 || level < 0)
        wrong = 1;
    handled++;
}

static void handlers(void)
{
    const struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
    nvtxDomainHandle_t domain = nvtxDomainCreateA("lib");
    struct sigaction action;
    time_t end = time(NULL) + 20;
    int pops = 0;

    memset(&action, 0, sizeof(action));
    action.sa_handler = handle;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    while (handled < 1000 && time(NULL) < end) {
        nvtxRangePushA("outside");
        push_in(domain, "inside");
        pops += nvtxRangePop() == 0;
        pops -= nvtxDomainRangePop(domain) == 0;
    }
    setitimer(ITIMER_REAL, &never, NULL);
    printf("enough %d\nwrong %d\nunbalanced %d\n", handled >= 1000, wrong, pops);
    at("after", nvtxRangePop());
}

/* ---- Speed -------------------------------------------------------------- */

static double now_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static void fast(void)
{
    enum { TIMES = 1000000 };
    nvtxDomainHandle_t domain = nvtxDomainCreateA("lib");
    nvtxEventAttributes_t by_handle = registered(nvtxDomainRegisterStringA(domain, "step"));
    nvtxEventAttributes_t by_text = text("step");
    double begin = now_ns();

    for (int i = 0; i < TIMES; i++) {
        nvtxDomainRangePushEx(domain, &by_handle);
        nvtxDomainRangePop(domain);
    }
    printf("registered %.1f\n", (now_ns() - begin) / TIMES);
    begin = now_ns();
    for (int i = 0; i < TIMES; i++) {
        nvtxRangePushA("step");
        nvtxRangePop();
    }
    printf("plain %.1f\n", (now_ns() - begin) / TIMES);
    begin = now_ns();
    for (int i = 0; i < TIMES; i++) {
        nvtxDomainRangePushEx(domain, &by_text);
        nvtxDomainRangePop(domain);
    }
    printf("composed %.1f\n", (now_ns() - begin) / TIMES);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {
        {"nest", nest},       {"domains", domains},   {"strings", strings},
        {"odd", odd},         {"unicode", unicode},   {"categories", categories},
        {"deep", deep},       {"pytorch", pytorch},   {"many_domains", many_domains},
        {"threads", threads}, {"spans", spans},       {"forks", forks},
        {"fast", fast},       {"handlers", handlers},
    };

    space = memledger_space_open("cpu", MEMLEDGER_BLOCK, "places");
    for (size_t i = 0; argc > 1 && i < sizeof(cases) / sizeof(*cases); i++) {
        if (!strcmp(cases[i].name, argv[1])) {
            cases[i].run();
            return 0;
        }
    }
    return 2;
}
