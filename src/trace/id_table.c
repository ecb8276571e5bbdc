/* id_table.c: an array of entries by number.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "id_table.h"

#include <stdlib.h>
#include <string.h>

#include "vec.h"

void ml_id_table_init(struct ml_id_table *table, size_t item_bytes, const void *blank)
{
    *table = (struct ml_id_table){.item_bytes = item_bytes, .blank = blank};
}

void ml_id_table_release(struct ml_id_table *table)
{
    free(table->items);
    ml_id_table_init(table, table->item_bytes, table->blank);
}

static void append(struct ml_id_table *table, const void *item)
{
    memcpy(table->items + table->len * table->item_bytes, item, table->item_bytes);
    table->len++;
}

int ml_id_table_put(struct ml_id_table *table, uint32_t id, const void *item)
{
    size_t extra = id - table->len + 1;

    if (ml_vec_grow(&table->items, table->len, &table->cap, extra, table->item_bytes))
        return -ENOMEM;
    while (table->len < id)
        append(table, table->blank);
    append(table, item);
    return 0;
}
