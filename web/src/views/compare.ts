/* Two runs side by side.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { ask, type Query } from '../api/client';
import { readOptions } from '../api/filters';
import type { Compare, ComparedRun, ComparedValue, TraceFile } from '../api/types';
import { bytesColumn, changeColumn, countColumn, percentChangeColumn, textColumn, timeColumn, type Column } from '../dom/columns';
import { h, select } from '../dom/element';
import { nothing } from '../dom/notice';
import { DataTable } from '../dom/table';
import { keyChooser } from '../instant/table-panel';
import { comparisons, type Comparison, type State } from '../state/state';
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

function fileChooser(store: Store, files: readonly TraceFile[], other: number): HTMLElement {
  const choices = files.filter((file) => file.id !== store.state.file).map((file) => ({ value: String(file.id), text: file.name }));
  return select('Compare with', choices, String(other), (id) => store.update({ other: Number(id) }));
}

function whatOptions(state: State): Query {
  if (state.each !== 'entry') return [['each', state.each]];
  return [['at', state.at], ['by', state.keys.join(',')]];
}

function whatChooser(store: Store): HTMLElement {
  const texts: Record<Comparison, string> = {
    entry: 'memory at the chosen moment', step: 'the peak of each step', phase: 'the peak of each phase',
  };
  const choices = comparisons.map((value) => ({ value, text: texts[value] }));
  return select('Show', choices, store.state.each, (each) => store.update({ each: each as Comparison }));
}

export async function compareView(store: Store, files: readonly TraceFile[]): Promise<HTMLElement> {
  const { state } = store;
  const others = files.filter((file) => file.id !== state.file);
  const other = others.find((file) => file.id === state.other) ?? others[0];

  if (!other) return nothing('Start memledger view with two or more files to compare them: memledger view A.mled B.mled');
  const answer = await ask<Compare>('compare', [
    ['file', String(state.file)], ['file', String(other.id)], ...whatOptions(state), ['top', '1000'], ...readOptions(state),
  ]);
  const { data } = answer;
  const table = new DataTable<Entry>({
    caption: state.each === 'entry' ? `At ${state.at}, by ${state.keys.join(', ')}` : `Peak of each ${state.each}`,
    columns: entryColumns(data),
    rows: data.view.entries,
    search: state.search,
  });
  const controls = h('div', { class: 'bar-line' }, fileChooser(store, files, other.id), whatChooser(store));
  const keys = state.each === 'entry' ? keyChooser(state.keys, (chosen) => store.update({ keys: chosen })) : null;

  return framed({ verb: 'compare', title: 'Compare', answer, state, csv: () => table.csv() }, controls,
    runsTable(data.runs).element, keys, table.element);
}
