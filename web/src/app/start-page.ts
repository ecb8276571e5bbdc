/* Without a trace: recent ones to choose from, and a place for a file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import type { TraceFile } from '../api/types';
import { bytesColumn, textColumn } from '../dom/columns';
import { h } from '../dom/element';
import { nothing } from '../dom/notice';
import { DataTable } from '../dom/table';
import { formatDate } from '../format/time';

export function fileChooser(chosen: (file: File) => void): HTMLElement {
  const input = h('input', { type: 'file', name: 'open' });

  input.addEventListener('change', () => {
    const file = input.files?.[0];
    if (file) chosen(file);
  });
  return h('label', { class: 'field chooser' }, h('span', {}, 'Open a file'), input);
}

function folderOf(file: TraceFile): string {
  return file.path.slice(0, file.path.lastIndexOf('/')) || '/';
}

function recentTable(files: readonly TraceFile[], open: (id: number) => void): HTMLElement {
  const newest = [...files].sort((a, b) => (b.modified_ns ?? 0) - (a.modified_ns ?? 0));

  return new DataTable<TraceFile>({
    caption: 'Recent recordings',
    columns: [
      textColumn('name', (file) => file.name),
      { title: 'written', numeric: false, value: (file) => file.modified_ns ?? null, text: (file) => (file.modified_ns ? formatDate(file.modified_ns) : 'gone') },
      bytesColumn('size', (file) => file.bytes),
      textColumn('folder', folderOf),
    ],
    rows: newest,
    action: { label: (file) => `Open ${file.name}`, run: (file) => open(file.id) },
  }).element;
}

export function startPage(files: readonly TraceFile[], open: (id: number) => void, send: (file: File) => void): HTMLElement {
  const list = files.length > 0 ? recentTable(files, open) : nothing('memledger run PROGRAM records one; it appears here.');

  return h(
    'section',
    { class: 'start', 'aria-label': 'Open a recording' },
    h('p', { class: 'prose' }, 'Drop a file here: a .mled recording, a PyTorch memory snapshot (.pickle), or any file that memledger import reads.'),
    fileChooser(send),
    list,
  );
}
