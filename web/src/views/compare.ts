/* Two or more runs side by side.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { ask, type Query } from '../api/client';
import { excerptOfPage } from '../api/embedded';
import { filterOptions, readOptions } from '../api/filters';
import type { Compare, ComparedRun, ComparedValue, TraceFile } from '../api/types';
import { bytesColumn, changeColumn, countColumn, percentChangeColumn, textColumn, timeColumn, type Column } from '../dom/columns';
import { h, select } from '../dom/element';
import { nothing } from '../dom/notice';
import { saveButtons } from '../dom/save';
import { DataTable } from '../dom/table';
import { formatBytes } from '../format/bytes';
import { keyChooser, keyColumn } from '../instant/table-panel';
import { comparisons, type Comparison, type State } from '../state/state';
import type { Store } from '../state/store';
import { inks } from '../theme/inks';
import { CanvasSurface } from '../theme/surface';
import { failed, framed } from './frame';
import { namedRuns } from './run-names';
import { runDashes, StepChart } from './step-chart';

const runsMax = 16; // of one question to the server

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
    ...keys.map((key) => keyColumn<Entry>(key, (entry) => (entry[key] === null ? null : String(entry[key])))),
    ...data.runs.map((run, i) => bytesColumn<Entry>(run.name, (entry) => value(entry, i)?.bytes ?? null)),
    ...data.runs.slice(1).flatMap((run, i) => {
      const of = data.runs.length > 2 ? `, ${run.name}` : '';
      return [
        changeColumn<Entry>(`change${of}`, (entry) => value(entry, i + 1)?.bytes_difference ?? null),
        percentChangeColumn<Entry>(`change in %${of}`, (entry) => value(entry, i + 1)?.bytes_percent ?? null),
      ];
    }),
  ];
}

/* The runs, aligned by step. */
function chartOf(data: Compare, store: Store): StepChart {
  const columns = data.view.entries.map((entry) => ({ step: Number(entry.step), total: 0, parts: [], runs: entry.runs.map(({ bytes }) => bytes) }));

  return new StepChart(columns, {
    label: 'Peaks of the steps of each run; the table has the same numbers.',
    describe: ({ step, runs }) => `step ${step}: ${runs.map((bytes, i) => `${data.runs[i]?.name ?? ''} ${bytes === null ? 'has none' : formatBytes(bytes)}`).join(', ')}`,
    choose: (step) => store.update({ view: 'timeline', at: `step:${step}` }),
  });
}

function runLegend(runs: readonly ComparedRun[]): HTMLElement {
  const items = runs.map(({ name }, i) => {
    const canvas = h('canvas', { class: 'dash', width: 64, height: 4, 'aria-hidden': true });
    const surface = canvas.getContext('2d');

    if (surface) new CanvasSurface(surface, 1).path([[0, 2], [64, 2]], inks.text, (runDashes[i % runDashes.length] ?? []).map((length) => 2 * length));
    return h('span', {}, canvas, name);
  });
  return h('div', { class: 'legend-line' }, ...items);
}

const all = { value: 'all', text: 'all others' };

function fileChooser(store: Store, others: readonly TraceFile[], chosen: readonly TraceFile[]): HTMLElement {
  const choices = others.map((file) => ({ value: String(file.id), text: file.name }));
  const shown = store.state.other === 'all' ? 'all' : String(chosen[0]?.id);

  return select('Compare with', others.length > 1 ? [...choices, all] : choices, shown, (id) => store.update({ other: id === 'all' ? id : Number(id) }));
}

/* The files that are compared with the one that is shown. A list of recent ones is not opened. */
function chosenOthers(others: readonly TraceFile[], state: State): readonly TraceFile[] {
  if (state.other === 'all') return others.slice(0, runsMax - 1);
  return others.filter((file, i) => (others.some(({ id }) => id === state.other) ? file.id === state.other : i === 0));
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
  const others = files.filter((file) => file.id !== state.file && !file.listed);
  const chosen = chosenOthers(others, state);

  if (chosen.length === 0 && (await excerptOfPage())) return failed('Compare', nothing('This file contains one recording; memledger view compares several.'));
  if (chosen.length === 0)
    return failed('Compare', nothing('One trace is open. Start memledger view with two or more to compare them (memledger view A.mled B.mled), or drop another file on this page.'));
  const answer = await ask<Compare>('compare', [
    ['file', String(state.file)], ...chosen.map(({ id }) => ['file', String(id)] as const), ...whatOptions(state), ['top', '1000'], ...filterOptions('compare', state), ...readOptions(state),
  ]);
  const shown = files.filter(({ id }) => id === state.file);
  const data = { ...answer.data, runs: namedRuns(answer.data.runs, [...shown, ...chosen].map(({ name }) => name)) };
  const table = new DataTable<Entry>({
    caption: state.each === 'entry' ? `At ${state.at}, by ${state.keys.join(', ')}` : `Peak of each ${state.each}`,
    columns: entryColumns(data),
    rows: data.view.entries,
    search: state.search,
  });
  const controls = h('div', { class: 'bar-line' }, fileChooser(store, others, chosen), whatChooser(store));
  const keys = state.each === 'entry' ? keyChooser(state.keys, (chosen) => store.update({ keys: chosen })) : null;

  const chart = state.each === 'step' && data.view.entries.length > 0 ? chartOf(data, store) : null;
  const picture = chart ? h('div', {}, runLegend(data.runs), chart.status, chart.canvas) : null;

  return framed({ verb: 'compare', title: 'Compare', answer, state, csv: () => table.csv(), ...(chart ? { saves: saveButtons(chart.picture('compare')) } : {}) },
    controls, runsTable(data.runs).element, keys, picture, table.element);
}
