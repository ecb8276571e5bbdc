/* The memory of an instant in groups, and the choice of their keys.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import type { Answer } from '../api/client';
import type { Group, Table } from '../api/types';
import { bytesColumn, countColumn, percentColumn, textColumn, type Column } from '../dom/columns';
import { h } from '../dom/element';
import { DataTable } from '../dom/table';
import { formatBytes, formatCount } from '../format/bytes';
import { groupKeys } from '../state/state';
import { words } from '../theme/categories';
import { panel } from './frame';

/* Categories are copied as the command prints them. */
export function keyColumn<Row>(key: string, get: (row: Row) => string | null): Column<Row> {
  const column = textColumn(key, get, `(no ${key})`);
  return key === 'category' ? { ...column, text: (row) => words(get(row) ?? column.text(row)) } : column;
}

/* The keys in the order in which they were chosen. */
export function toggleKey(keys: readonly string[], key: string): string[] {
  const without = keys.filter((other) => other !== key);

  if (without.length === keys.length) return [...keys, key];
  return without.length > 0 ? without : [...keys];
}

export function keyChooser(keys: readonly string[], chosen: (keys: string[]) => void): HTMLElement {
  const list = h('fieldset', { class: 'keys' }, h('legend', {}, 'Group by'));

  for (const key of groupKeys) {
    const box = h('input', { type: 'checkbox', name: `key-${key}`, checked: keys.includes(key) });
    box.addEventListener('change', () => chosen(toggleKey(keys, key)));
    list.append(h('label', {}, box, key));
  }
  return list;
}

function restSentence({ rest }: Table): HTMLElement | null {
  if (rest.groups === 0) return null;
  return h('p', { class: 'more' }, `${formatBytes(rest.bytes)} in ${formatCount(rest.groups)} more groups`);
}

export function tablePanel(answer: Answer<Table>, search: string, chosen: (keys: string[]) => void): HTMLElement {
  const { by, groups } = answer.data;
  const table = new DataTable<Group>({
    caption: `Memory by ${by.join(', ')}`,
    columns: [
      bytesColumn('bytes', (group) => group.bytes),
      percentColumn('share', (group) => group.percent),
      countColumn('blocks', (group) => group.blocks),
      ...by.map((key) => keyColumn<Group>(key, (group) => (group[key] === null ? null : String(group[key])))),
    ],
    rows: groups,
    search,
  });

  return panel([answer], { csv: () => table.csv() }, keyChooser(by, chosen), table.element, restSentence(answer.data));
}
