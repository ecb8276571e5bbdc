/* Two runs side by side. */
import { ask } from '../api/client';
import type { Compare, ComparedRun, ComparedValue, TraceFile } from '../api/types';
import { bytesColumn, changeColumn, countColumn, percentChangeColumn, textColumn, timeColumn, type Column } from '../dom/columns';
import { h, select } from '../dom/element';
import { nothing } from '../dom/notice';
import { DataTable } from '../dom/table';
import { keyChooser } from '../instant/table-panel';
import type { Store } from '../state/store';
import { framed } from './frame';

type Entry = Compare['view']['entries'][number];

function runsTable(runs: ComparedRun[]): DataTable<ComparedRun> {
  return new DataTable<ComparedRun>({
    caption: 'Runs',
    columns: [
      textColumn('run', (run) => run.name),
      bytesColumn('peak', (run) => run.peak_bytes),
      changeColumn('change', (run) => run.peak_bytes_difference),
      percentChangeColumn('change in %', (run) => run.peak_bytes_percent),
      bytesColumn('never freed', (run) => run.never_freed_bytes),
      countColumn('allocations', (run) => run.allocations),
      timeColumn('duration', (run) => run.duration_ns),
    ],
    rows: runs,
  });
}

function entryColumns(data: Compare): Column<Entry>[] {
  const keys = data.view.by ?? [data.view.each];
  const value = (entry: Entry, i: number): ComparedValue | undefined => entry.runs[i];

  return [
    ...keys.map((key) => textColumn<Entry>(key, (entry) => (entry[key] === null ? null : String(entry[key])), `(no ${key})`)),
    ...data.runs.map((run, i) => bytesColumn<Entry>(run.name, (entry) => value(entry, i)?.bytes ?? null)),
    changeColumn('change', (entry) => value(entry, 1)?.bytes_difference ?? null),
    percentChangeColumn('change in %', (entry) => value(entry, 1)?.bytes_percent ?? null),
  ];
}

function chooser(store: Store, files: readonly TraceFile[], other: number): HTMLElement {
  const choices = files.filter((file) => file.id !== store.state.file).map((file) => ({ value: String(file.id), text: file.name }));
  return select('Compare with', choices, String(other), (id) => store.update({ other: Number(id) }));
}

export async function compareView(store: Store, files: readonly TraceFile[]): Promise<HTMLElement> {
  const { state } = store;
  const others = files.filter((file) => file.id !== state.file);
  const other = others.find((file) => file.id === state.other) ?? others[0];

  if (!other) return nothing('Start memledger view with two or more files to compare them: memledger view A.mled B.mled');
  const answer = await ask<Compare>('compare', [
    ['file', String(state.file)], ['file', String(other.id)], ['at', state.at], ['by', state.keys.join(',')], ['top', '1000'],
  ]);
  const { data } = answer;
  const table = new DataTable<Entry>({
    caption: `At ${state.at}, by ${state.keys.join(', ')}`,
    columns: entryColumns(data),
    rows: data.view.entries,
    search: state.search,
  });
  const controls = h('div', { class: 'bar-line' }, chooser(store, files, other.id));

  return framed({ verb: 'compare', title: 'Compare', answer, state, csv: () => table.csv() }, controls,
    runsTable(data.runs).element, keyChooser(state.keys, (keys) => store.update({ keys })), table.element);
}
