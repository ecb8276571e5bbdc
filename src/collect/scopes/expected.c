/* expected.c: see expected.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "expected.h"

void ml_expected_release(struct ml_expected *expected)
{
    ml_map_release(&expected->by_key);
}

void ml_expected_add(struct ml_expected *expected, uint64_t key, uint32_t category, uint32_t label)
{
    if (ml_map_get(&expected->by_key, key, NULL))
        return;
    if (ml_map_len(&expected->by_key) == ML_EXPECTED_MAX) {
        expected->dropped += ML_EXPECTED_MAX;
        ml_expected_forget_all(expected);
    }
    /* Without memory the block has no label. */
    if (ml_map_put(&expected->by_key, key, (uint64_t)category << 32 | label))
        expected->dropped++;
}

void ml_expected_forget(struct ml_expected *expected, uint64_t key)
{
    ml_map_take(&expected->by_key, key, NULL);
}

void ml_expected_forget_all(struct ml_expected *expected)
{
    ml_map_clear(&expected->by_key);
}

bool ml_expected_find(const struct ml_expected *expected, uint64_t key, uint32_t *ret_category,
                      uint32_t *ret_label)
{
    uint64_t value;

    if (!ml_map_get(&expected->by_key, key, &value))
        return false;
    *ret_category = (uint32_t)(value >> 32);
    *ret_label = (uint32_t)value;
    return true;
}
