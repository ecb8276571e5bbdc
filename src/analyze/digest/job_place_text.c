/* job_place_text.c: the place of a process in a job, "rank=3 world_size=8 dp=1", read back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "digest.h"
#include "slice.h"

bool ml_place_next(const char **at, const char **ret_key, size_t *ret_key_len,
                   const char **ret_value, size_t *ret_value_len)
{
    while (*at && **at) {
        const char *word = *at + strspn(*at, " "), *end = word + strcspn(word, " ");
        const char *equals = memchr(word, '=', (size_t)(end - word));

        *at = end;
        if (!equals || equals == word)
            continue;
        *ret_key = word;
        *ret_key_len = (size_t)(equals - word);
        *ret_value = equals + 1;
        *ret_value_len = (size_t)(end - equals - 1);
        return true;
    }
    return false;
}

bool ml_place_number(const char *place, const char *key, uint64_t *ret)
{
    const char *at = place;
    struct ml_slice name, value;

    while (ml_place_next(&at, &name.text, &name.len, &value.text, &value.len))
        if (ml_slice_is(name, key))
            return ml_slice_u64(value, ret);
    return false;
}
