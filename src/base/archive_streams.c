/* archive_streams.c: stdin, stdout and stderr for the archives in the release tarball.
 *
 * Their code was compiled for a program that is not position-independent: it expects libc's
 * variables at fixed addresses in the program, where the loader copies them. zig's list of glibc's
 * symbols has no addresses, so that all variables of libc would share one copy. Therefore
 * scripts/dist.sh renames these three in the archives.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

extern FILE *ml_archive_stdin, *ml_archive_stdout, *ml_archive_stderr;
FILE *ml_archive_stdin, *ml_archive_stdout, *ml_archive_stderr;

__attribute__((constructor)) static void set_streams(void)
{
    ml_archive_stdin = stdin;
    ml_archive_stdout = stdout;
    ml_archive_stderr = stderr;
}
