/* heap_late.h: malloc's hooks in a process that is under way: `memledger attach --heap`.
 *
 * The library was loaded late, so that no call comes to its functions by itself. The slots of all
 * loaded objects that lead to the allocator are pointed at the hooks, and back at the end. Objects
 * that are loaded later keep calling the allocator.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_HEAP_LATE_H
#define ML_HEAP_LATE_H

/* Found by name: libmemledger.so has no heap hooks. */
#define ML_HEAP_LATE_NAME "memledger_heap_late_v1"

struct ml_heap_late {
    /* Begins as the session says. Precondition: the process has joined it. */
    void (*begin)(void);
    /* Precondition: the process has left it. Otherwise blocks that are freed meanwhile, by objects
     * that no longer call the hooks, would stay live in the trace. */
    void (*end)(void);
};

#endif
