// heap_cxx.cc: a C++ program around heap_new_delete.cc.
//
// SPDX-License-Identifier: Apache-2.0
extern "C" int heap_new_delete(void);

int main()
{
    return heap_new_delete();
}
