/* heap_linked.c: linked with heap_plugin.c's library, which allocates before
 * main, perhaps before the recorder's own constructor, and after it, at exit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "heap_expect.h"

int heap_plugin_loaded(void);

int main(void)
{
    CHECK(heap_plugin_loaded());
    expect(74001, 1, 1);
    expect(74002, 1, 0);
    expect(74003, 1, 1);
    return 0;
}
