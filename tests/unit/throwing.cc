// throwing.cc: see throwing.h.
//
// SPDX-License-Identifier: Apache-2.0
#include "throwing.h"

void throw_now(void)
{
    throw 1;
}

bool throws(void (*call)(void *), void *context)
{
    try {
        call(context);
    } catch (int) {
        return true;
    }
    return false;
}
