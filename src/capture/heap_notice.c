/* heap_notice.c: says when the hooks stand in nobody's way.
 *
 * A program that has malloc in its executable (linked statically with jemalloc,
 * say) calls that one, and so does every library. Only malloc is looked at: who
 * replaces one replaces all.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "heap_notice.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "loaded_symbols.h"
#include "recorder.h"

static void say(const char *file)
{
    static const char before[] = "memledger: the program's own malloc, in ";
    static const char after[] = ", stands before the recorder's; the heap is not seen\n";
    struct iovec text[] = {
        {(void *)(uintptr_t)before, sizeof(before) - 1},
        {(void *)(uintptr_t)file, strlen(file)},
        {(void *)(uintptr_t)after, sizeof(after) - 1},
    };
    ssize_t ignored = writev(STDERR_FILENO, text, 3);

    (void)ignored;
}

/* An executable that only took the address of malloc does not define it, and calls
 * still come to us. */
void ml_heap_notice(void)
{
    const struct link_map *object = NULL;

    if (!ml_symbol_after(NULL, "malloc", &object) || object == ml_symbols_own_object())
        return;
    if (!ml_session || ml_session_tells(ml_session, ML_NOTICE_MALLOC))
        say(*object->l_name ? object->l_name : program_invocation_name);
}
