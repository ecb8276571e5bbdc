/* The difference between two moments, by the keys of the table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import type { Answer } from '../api/client';
import type { Table } from '../api/types';
import { bytesColumn, changeColumn } from '../dom/columns';
import { h } from '../dom/element';
import { nothing } from '../dom/notice';
import { DataTable } from '../dom/table';
import { toolbar } from '../dom/toolbar';
import { formatChange, formatExact } from '../format/bytes';
import { difference, type Change } from './difference';
import { instantHeading } from './frame';
import { keyChooser, keyColumn } from './table-panel';

export function noDifference(): HTMLElement {
  return nothing('Choose a second moment: Shift-click in the timeline, or press b to keep the chosen one and then choose another.');
}

/* "+51.8 MiB compared with 6.5 MiB live in 78 blocks at 1 min 48 s (end)" */
function heading(before: Table, after: Table): HTMLElement {
  const change = after.bytes - before.bytes;
  const text = change === 0 ? 'no change in total' : formatChange(change);
  const line = instantHeading(before);

  line.prepend(h('strong', { title: formatExact(change) }, text), ' compared with ');
  return line;
}

export function differencePanel(
  before: Answer<Table>,
  after: Answer<Table>,
  search: string,
  chosen: (keys: string[]) => void,
): HTMLElement {
  const changes = difference(before.data, after.data);
  const table = new DataTable<Change>({
    caption: `Change by ${after.data.by.join(', ')}`,
    columns: [
      changeColumn('change', (row) => row.change),
      bytesColumn('before', (row) => row.before),
      bytesColumn('after', (row) => row.after),
      ...after.data.by.map((key) => keyColumn<Change>(key, (row) => row.names[key] ?? null)),
    ],
    rows: changes,
    search,
  });
  const json = () => JSON.stringify({ before: before.data, after: after.data, changes }, null, 2);

  return h(
    'div',
    { class: 'panel' },
    toolbar([before.command, after.command], { csv: () => table.csv(), json }),
    heading(before.data, after.data),
    keyChooser(after.data.by, chosen),
    table.element,
  );
}
