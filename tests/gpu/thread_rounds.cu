// thread_rounds.cu: threads that allocate and free blocks of all sizes at the same time, for the check
// thread_books. At the end all blocks but one of each thread are freed.
//
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstdio>
#include <random>
#include <thread>
#include <vector>

#define THREADS 8
#define ROUNDS 400
#define HELD 12

static std::atomic<unsigned long long> allocations, failures;

static void work(unsigned number)
{
    std::mt19937 random(number);
    std::vector<void *> held(HELD, nullptr);

    for (int round = 0; round < ROUNDS; round++) {
        void *&block = held[random() % HELD];

        if (cudaFree(block) || cudaMalloc(&block, 1 + random() % (1u << (random() % 25))))
            failures++;
        allocations++;
    }
    for (size_t i = 1; i < held.size(); i++) {
        if (cudaFree(held[i]))
            failures++;
    }
}

int main()
{
    std::vector<std::thread> threads;

    cudaFree(nullptr);
    for (unsigned i = 0; i < THREADS; i++)
        threads.emplace_back(work, i);
    for (std::thread &thread : threads)
        thread.join();
    std::printf("%llu allocations, %llu failures\n", allocations.load(), failures.load());
    return failures > 0;
}
