// heap_new_delete.cc: every form of C++ new and delete, and a bad_alloc.
//
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstring>
#include <new>
#include <vector>

#include "heap_expect.h"

namespace
{
constexpr std::align_val_t page{4096};

// Through pointers: compilers may leave out a pair of new and delete.
void single()
{
    operator delete(used(operator new(75001)));
    operator delete(used(operator new(75002)), 75002);
    operator delete(used(operator new(75003, std::nothrow)), std::nothrow);
    operator delete(used(operator new(77824, page)), page);
    operator delete(used(operator new(81920, page)), 81920, page);
    operator delete(used(operator new(86016, page, std::nothrow)), page, std::nothrow);
    expect(75001, 1, 1);
    expect(75002, 1, 1);
    expect(75003, 1, 1);
    expect(77824, 1, 1);
    expect(81920, 1, 1);
    expect(86016, 1, 1);
}

void array()
{
    operator delete[](used(operator new[](75101)));
    operator delete[](used(operator new[](75102)), 75102);
    operator delete[](used(operator new[](75103, std::nothrow)), std::nothrow);
    operator delete[](used(operator new[](90112, page)), page);
    operator delete[](used(operator new[](94208, page)), 94208, page);
    operator delete[](used(operator new[](98304, page, std::nothrow)), page, std::nothrow);
    used(operator new[](75104));
    operator delete(nullptr);
    expect(75101, 1, 1);
    expect(75102, 1, 1);
    expect(75103, 1, 1);
    expect(90112, 1, 1);
    expect(94208, 1, 1);
    expect(98304, 1, 1);
    expect(75104, 1, 0);
}

void refused()
{
    volatile size_t too_much = PTRDIFF_MAX;
    bool thrown = false;

    try {
        used(operator new(too_much));
    } catch (const std::bad_alloc &) {
        thrown = true;
    }
    CHECK(thrown);
    CHECK(!used(operator new(too_much, std::nothrow)));
}
} // namespace

extern "C" __attribute__((visibility("default"))) int heap_new_delete(void)
{
    single();
    array();
    refused();
    {
        std::vector<char> bytes(75201);
        used(bytes.data());
    }
    expect(75201, 1, 1);
    return 0;
}
