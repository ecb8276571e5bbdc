/* The difference between two moments, by the keys of the table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import type { Answer } from '../api/client';
import type { ComparedInstants, Table } from '../api/types';
import { bytesColumn, changeColumn } from '../dom/columns';
import { h } from '../dom/element';
import { nothing } from '../dom/notice';
import { DataTable } from '../dom/table';
import { formatBytes, formatChange, formatCount, formatExact } from '../format/bytes';
import { comparedChanges, difference, type Change } from './difference';
import { instantHeading, panel } from './frame';
import { keyChooser, keyColumn } from './table-panel';

export function noDifference(): HTMLElement {
  return nothing('Choose a second moment: Shift-click in the timeline, write it above after “compared with”, or press b to keep the chosen one and then choose another.');
}

/* "+51.8 MiB compared with 6.5 MiB live in 78 blocks at 1 min 48 s (end)" */
function heading(change: number, before: Table, base: string): HTMLElement {
  const line = instantHeading(before, base);

  line.prepend(h('strong', { title: formatExact(change) }, change === 0 ? 'no change in total' : formatChange(change)), ' compared with ');
  return line;
}

function changesTable(changes: readonly Change[], keys: readonly string[], search: string): DataTable<Change> {
  return new DataTable<Change>({
    caption: `Change by ${keys.join(', ')}`,
    columns: [
      changeColumn('change', (row) => row.change),
      bytesColumn('before', (row) => row.before),
      bytesColumn('after', (row) => row.after),
      ...keys.map((key) => keyColumn<Change>(key, (row) => row.names[key] ?? null)),
    ],
    rows: changes,
    search,
  });
}

function restSentence({ view: { rest } }: ComparedInstants): HTMLElement | null {
  const [before, after] = rest?.runs?.map(({ bytes }) => bytes ?? 0) ?? [];

  if (!rest || rest.entries === 0) return null;
  return h('p', { class: 'more' }, `${formatCount(rest.entries)} more groups: ${formatBytes(before ?? 0)} before, ${formatBytes(after ?? 0)} after`);
}

/* @before  for the heading: the earlier-named moment, and @base  its name */
export function differencePanel(answer: Answer<ComparedInstants>, before: Table, base: string, search: string, chosen: (keys: string[]) => void): HTMLElement {
  const { instants, view } = answer.data;
  const keys = view.by ?? [];
  const table = changesTable(comparedChanges(answer.data), keys, search);
  const change = (instants[1]?.bytes ?? 0) - (instants[0]?.bytes ?? 0);

  return panel([answer], { csv: () => table.csv() }, heading(change, before, base), keyChooser(keys, chosen), table.element, restSentence(answer.data));
}

/* For an exported page. */
export function tablesPanel(before: Answer<Table>, after: Answer<Table>, base: string, search: string, chosen: (keys: string[]) => void): HTMLElement {
  const keys = after.data.by;
  const table = changesTable(difference(before.data, after.data), keys, search);

  return panel([before, after], { csv: () => table.csv() }, heading(after.data.bytes - before.data.bytes, before.data, base), keyChooser(keys, chosen), table.element);
}
