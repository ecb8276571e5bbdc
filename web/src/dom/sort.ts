/* Sorting and searching rows of a table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { sizeTest } from '../format/size-search';
import type { Column, Value } from './columns';

export interface Order {
  column: number;
  descending: boolean;
}

/* Nothing comes last, whatever the direction. */
function compare(a: Value, b: Value, descending: boolean): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  const ascending = typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b), 'en');
  return descending ? -ascending : ascending;
}

export function sortRows<Row>(rows: readonly Row[], columns: readonly Column<Row>[], order: Order | null): Row[] {
  const column = order === null ? undefined : columns[order.column];

  if (!column || !order) return [...rows];
  return [...rows].sort((a, b) => compare(column.value(a), column.value(b), order.descending));
}

/* Case does not matter, as in most searches. */
export function contains(text: string | null, search: string): boolean {
  return search === '' || (text ?? '').toLowerCase().includes(search.toLowerCase());
}

/* Rows with a name that contains the text, or of the size that it describes. */
export function searchRows<Row>(rows: readonly Row[], columns: readonly Column<Row>[], search: string): Row[] {
  const names = columns.filter((column) => !column.numeric);
  const isWanted = sizeTest(search);
  const size = columns.find((column) => column.isSize);

  if (isWanted && size) return rows.filter((row) => isWanted(Number(size.value(row) ?? 0)));
  if (search === '' || names.length === 0) return [...rows];
  return rows.filter((row) => names.some((column) => contains(column.text(row), search)));
}
