// attach_rounds.cu: allocates, computes and frees in rounds until standard input ends, for the
// check attach_driver; with CUDA's static run-time library. Some blocks are older than any
// recording, and each round frees the oldest. For each line that it reads it stops between two
// rounds, prints what it has done, and goes on at the next line.
//
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <ctime>
#include <poll.h>
#include <unistd.h>

#define HELD 16
#define WORDS (5u << 20)

static unsigned *held[HELD];
static unsigned long long allocations, rounds, wrong;

__global__ void fill(unsigned *p, unsigned n)
{
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        p[i] = i & 7;
}

__global__ void add(const unsigned *p, unsigned n, unsigned long long *sum)
{
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(sum, (unsigned long long)p[i]);
}

static unsigned words_of(unsigned long long number)
{
    return WORDS + (unsigned)(number % 7) * 1000;
}

static unsigned long long expected(unsigned n)
{
    unsigned long long sum = n / 8 * 28;

    for (unsigned i = 0; i < n % 8; i++)
        sum += i;
    return sum;
}

static void allocate(unsigned at)
{
    if (cudaMalloc(&held[at], words_of(allocations) * sizeof(unsigned)))
        wrong++;
    allocations++;
}

static void round_once(unsigned long long *sum)
{
    unsigned at = (unsigned)(rounds % HELD), n = words_of(allocations);
    unsigned long long found = 0;

    if (cudaFree(held[at]))
        wrong++;
    allocate(at);
    cudaMemset(sum, 0, sizeof(*sum));
    fill<<<64, 256>>>(held[at], n);
    add<<<64, 256>>>(held[at], n, sum);
    if (cudaMemcpy(&found, sum, sizeof(found), cudaMemcpyDeviceToHost) || found != expected(n))
        wrong++;
    rounds++;
    usleep(500);
}

static bool has_line()
{
    struct pollfd in = {0, POLLIN, 0};

    return poll(&in, 1, 0) > 0;
}

static bool read_line()
{
    char c = 0;

    while (read(0, &c, 1) == 1)
        if (c == '\n')
            return true;
    return false;
}

static bool answer()
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    std::printf("{\"allocations\": %llu, \"rounds\": %llu, \"wrong\": %llu, \"wall_ns\": %lld}\n",
                allocations, rounds, wrong, now.tv_sec * 1000000000LL + now.tv_nsec);
    std::fflush(stdout);
    return read_line();
}

int main()
{
    unsigned long long *sum;

    cudaMalloc(&sum, sizeof(*sum));
    for (unsigned i = 0; i < HELD; i++)
        allocate(i);
    for (;;) {
        round_once(sum);
        if (has_line() && (!read_line() || !answer()))
            return wrong ? 1 : 0;
    }
}
