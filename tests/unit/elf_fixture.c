/* elf_fixture.c: a library whose symbols test_elf_symbols.c knows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stddef.h>

#define EXPORTED __attribute__((visibility("default")))

/* Two sized functions of 16 bytes each, 16 bytes without a symbol, then two labels without a
 * size, 16 bytes apart, and a label inside a sized function. */
__asm__(".pushsection .text.fixture, \"ax\", @progbits\n"
        ".balign 16\n"
        ".globl fixture_begin\n"
        ".hidden fixture_begin\n"
        "fixture_begin:\n"
        ".type fixture_sized, @function\n"
        ".globl fixture_sized\n"
        "fixture_sized: .skip 16, 0x90\n"
        ".size fixture_sized, 16\n"
        ".type fixture_local, @function\n"
        "fixture_local: .skip 16, 0x90\n"
        ".size fixture_local, 16\n"
        ".skip 16, 0x90\n"
        "fixture_label: .skip 16, 0x90\n"
        ".type fixture_next, @function\n"
        "fixture_next: .skip 16, 0x90\n"
        ".type fixture_outer, @function\n"
        "fixture_outer: .skip 8, 0x90\n"
        "fixture_inside: .skip 8, 0x90\n"
        ".size fixture_outer, 16\n"
        ".popsection\n");

extern const char fixture_begin[] __attribute__((visibility("hidden")));

EXPORTED const void *fixture_code(void);

EXPORTED const void *fixture_code(void)
{
    return fixture_begin;
}
