/* The driver's figure and the entries that explain it, for each device.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import type { Answer } from '../api/client';
import type { Ledger, LedgerDevice, LedgerEntry } from '../api/types';
import { bytesColumn, percentColumn, textColumn } from '../dom/columns';
import { h } from '../dom/element';
import { DataTable } from '../dom/table';
import { formatBytes, formatExact } from '../format/bytes';
import { formatDuration } from '../format/time';
import { categories, words } from '../theme/categories';
import { panel } from './frame';

interface Line {
  name: string;
  level: number;
  bytes: number | null; // null: unknown
}

/* Categories are among the entries. */
function entryName(name: string): string {
  return categories.some((category) => category.name === name) ? words(name) : name;
}

function linesOf(entries: readonly LedgerEntry[], level: number): Line[] {
  return entries.flatMap((entry) => [
    { name: entry.name, level, bytes: entry.bytes },
    ...linesOf(entry.entries, level + 1),
  ]);
}

export function ledgerLines(device: LedgerDevice): Line[] {
  return [...linesOf(device.entries, 0), { name: 'unexplained', level: 0, bytes: device.unexplained_bytes }];
}

function deviceHeading(device: LedgerDevice): HTMLElement {
  const name = device.name === null ? device.device : `${device.device}, ${device.name}`;
  if (device.used_bytes === null)
    return h('p', { class: 'heading' }, `${name}: the driver’s figure is unknown, and so is the rest: no sample was taken by then.`);
  const used = h('strong', { title: formatExact(device.used_bytes) }, formatBytes(device.used_bytes));
  const total = device.total_bytes === null ? '' : ` of ${formatBytes(device.total_bytes)}`;

  return h('p', { class: 'heading' }, `${name}: `, used, ` in use${total} at ${formatDuration(device.at_ns)}`);
}

function deviceTable(device: LedgerDevice, search: string): DataTable<Line> {
  const percent = (line: Line) => (device.used_bytes && line.bytes !== null ? (100 * line.bytes) / device.used_bytes : null);
  const bytes = bytesColumn<Line>('bytes', (line) => line.bytes);

  return new DataTable<Line>({
    caption: `Ledger of ${device.device}`,
    columns: [
      { ...textColumn<Line>('entry', (line) => line.name), text: (line) => '\u2003'.repeat(line.level) + entryName(line.name) },
      { ...bytes, text: (line) => (line.bytes === null ? '?' : bytes.text(line)) },
      percentColumn('share', percent),
    ],
    rows: ledgerLines(device),
    search,
    isMarked: (line) => line.level === 0,
  });
}

export function ledgerPanel(answer: Answer<Ledger>, search: string): HTMLElement {
  const tables = answer.data.devices.map((device) => deviceTable(device, search));
  const parts = answer.data.devices.flatMap((device, i) => [deviceHeading(device), tables[i]?.element ?? null]);

  return panel([answer], { csv: () => tables.map((table) => table.csv()).join('\n') }, ...parts);
}
