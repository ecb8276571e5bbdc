/* heap_notice.c: says when the hooks stand in nobody's way.
 *
 * A program that has malloc in its executable (linked statically with jemalloc,
 * say) calls that one, and so does every library. Only malloc is looked at: who
 * replaces one replaces all.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "heap_notice.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

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

/* A symbol without a section is only a way station: the executable took the
 * address of malloc, and calls still come to us. */
void ml_heap_notice(void)
{
    void *malloc_of_all = dlsym(RTLD_DEFAULT, "malloc");
    const ElfW(Sym) *symbol = NULL;
    Dl_info theirs, ours;

    if (!dladdr1(malloc_of_all, &theirs, (void **)(void *)&symbol, RTLD_DL_SYMENT) ||
        !dladdr((void *)ml_heap_notice, &ours))
        return;
    if (theirs.dli_fbase == ours.dli_fbase || !symbol || symbol->st_shndx == SHN_UNDEF)
        return;
    if (!ml_session || ml_session_tells(ml_session, ML_NOTICE_MALLOC))
        say(theirs.dli_fname);
}
