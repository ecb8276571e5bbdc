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

#include "loaded_symbols.h"
#include "recorder.h"
#include "sys.h"

/* An executable that only took the address of malloc does not define it, and calls
 * still come to us. */
void ml_heap_notice(void)
{
    const struct link_map *object = NULL;

    if (!ml_symbol_after(NULL, "malloc", &object) || object == ml_symbols_own_object())
        return;
    if (!ml_session || ml_session_tells(ml_session, ML_NOTICE_MALLOC))
        ml_sys_say("memledger: the program's own malloc, in ",
                   *object->l_name ? object->l_name : program_invocation_name,
                   ", hides the recorder's; the heap is not recorded\n");
}
