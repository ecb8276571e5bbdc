// sanitized.cc: allocates known sizes, built with each sanitizer that has an allocator.
//
//     sanitized [after-end | leak]   with a mistake that the sanitizer reports
//
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

static volatile char *kept;

int main(int argc, char **argv)
{
    std::string mistake = argc > 1 ? argv[1] : "";
    char *block = static_cast<char *>(malloc(71001));
    kept = new char[71002];
    kept[0] = 1;
    memset(block, 1, 71001);
    std::thread([] {
        void *volatile of_thread = malloc(71003);
        free(of_thread);
    }).join();
    free(block);
    printf("%d\n", kept[0]);
    if (mistake == "after-end")
        kept[1] = block[5];
    if (mistake != "leak")
        delete[] kept;
    kept = nullptr;
    return 0;
}
