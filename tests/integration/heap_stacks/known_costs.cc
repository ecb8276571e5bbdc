/* known_costs.cc: functions whose figures are known: bytes at the peak, never freed, allocated,
 * temporary, and calls. The peak is at the end of main.
 *
 *     known_costs TIMES
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <cstdlib>
#include <string>

#define KEEP_CALL __asm__ volatile("" ::: "memory")

static void *kept[1000];
static int kept_count;

template <typename T>
__attribute__((noinline)) void keeps_some(T bytes)
{
    kept[kept_count++] = malloc(bytes);
    KEEP_CALL;
}

__attribute__((noinline)) void frees_at_once(size_t bytes)
{
    void *volatile p = malloc(bytes);
    free(p);
    KEEP_CALL;
}

__attribute__((noinline)) void frees_later(size_t bytes)
{
    static void *last;

    free(last);
    last = malloc(bytes);
    if (bytes == 0)
        free(last);
    KEEP_CALL;
}

__attribute__((noinline)) void uses_new(size_t bytes)
{
    kept[kept_count++] = new char[bytes];
    KEEP_CALL;
}

__attribute__((noinline)) void asks_both(size_t bytes)
{
    keeps_some(bytes);
    uses_new(2 * bytes);
    KEEP_CALL;
}

int main(int argc, char **argv)
{
    int times = argc > 1 ? atoi(argv[1]) : 1;

    for (int i = 0; i < times; i++) {
        frees_at_once(3000);
        keeps_some<int>(1000);
        frees_later(5000);
        asks_both(10000);
    }
    kept[kept_count++] = malloc(100000);
    for (int i = 0; i < kept_count / 2; i++)
        free(kept[i]);
    return 0;
}
