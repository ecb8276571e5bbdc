/* keeps_many.c: a cache of constant size: replaces blocks at random, so that many are old.
 *
 *     keeps_many BLOCKS COUNT
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdint.h>
#include <stdlib.h>

static uint64_t state = 88172645463325252u;

static uint64_t random_number(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

int main(int argc, char **argv)
{
    uint64_t blocks = argc > 2 ? strtoull(argv[1], NULL, 10) : 0;
    uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    void **cache = blocks ? calloc(blocks, sizeof(*cache)) : NULL;

    if (!cache)
        return 2;
    for (uint64_t n = 0; n < blocks + count; n++) {
        void **place = &cache[n < blocks ? n : random_number() % blocks];

        free(*place);
        *place = malloc(16 + random_number() % 2000);
    }
    return 0;
}
