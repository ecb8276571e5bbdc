/* Training steps as bars and as a table; a step leads to its peak in the timeline.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { ask } from '../api/client';
import { fileQuery } from '../api/filters';
import type { Step, Steps } from '../api/types';
import { bytesColumn, countColumn, partColumn, timeColumn, type Column } from '../dom/columns';
import { h } from '../dom/element';
import { nothing } from '../dom/notice';
import { saveButtons } from '../dom/save';
import { DataTable } from '../dom/table';
import type { Store } from '../state/store';
import { categoryLegend } from '../dom/category-legend';
import { categories, words, type Category } from '../theme/categories';
import { durationOf } from '../timeline/range';
import { framed } from './frame';
import { describeParts, StepChart } from './step-chart';

type Line = Omit<Step, 'step'> & { step: number | null }; // null: after the last step

function partOf(line: Pick<Line, 'by_category'>, category: string): number {
  return line.by_category.find((part) => part.category === category)?.at_peak_bytes ?? 0;
}

function shownCategories(lines: readonly Pick<Line, 'by_category'>[]): Category[] {
  return categories.filter(({ name }) => lines.some((line) => partOf(line, name) > 0));
}

function chartOf(steps: readonly Step[], store: Store): StepChart {
  const shown = shownCategories(steps);
  const columns = steps.map((step) => ({
    step: step.step, total: step.peak_bytes, runs: [],
    parts: shown.map(({ name, number }) => ({ name: words(name), part: number, bytes: partOf(step, name) })).filter(({ bytes }) => bytes > 0),
  }));

  return new StepChart(columns, {
    label: 'Peaks of the steps by category; the table has the same numbers.',
    describe: describeParts,
    choose: (step) => store.update({ view: 'timeline', at: `step:${step}` }),
  });
}

function columnsOf(lines: readonly Line[]): Column<Line>[] {
  return [
    { title: 'step', numeric: true, value: (line) => line.step, text: (line) => (line.step === null ? 'after' : String(line.step)) },
    timeColumn('begin', (line) => line.begin_ns),
    timeColumn('duration', durationOf),
    ...(lines.some((line) => line.paused_ns) ? [timeColumn<Line>('paused', (line) => line.paused_ns ?? null)] : []),
    bytesColumn('peak', (line) => line.peak_bytes),
    bytesColumn('at end', (line) => line.end_bytes),
    countColumn('allocs', (line) => line.allocations),
    ...shownCategories(lines).map(({ name, title }) => partColumn<Line>(title, words(name), (line) => partOf(line, name))),
  ];
}

export async function stepsView(store: Store): Promise<HTMLElement> {
  const { state } = store;
  const answer = await ask<Steps>('steps', fileQuery('steps', state));
  const { steps, after_steps: after } = answer.data;
  const frame = { verb: 'steps', title: 'Steps', answer, state };

  if (steps.length === 0)
    return framed(frame, nothing('The trace marks no steps. memledger help steps explains how a program marks them.'));
  const lines: Line[] = after ? [...steps, { ...after, step: null }] : steps;
  const table = new DataTable<Line>({
    caption: 'By step; categories at each one’s peak',
    columns: columnsOf(lines),
    rows: lines,
    action: {
      label: (line) => (line.step === null ? 'Show the end of the run' : `Show the peak of step ${line.step}`),
      run: (line) => store.update({ view: 'timeline', at: line.step === null ? 'end' : `step:${line.step}` }),
    },
    isMarked: (line) => state.at === `step:${line.step}`,
  });
  const chart = chartOf(steps, store);
  const legend = h('div', { class: 'legend-line' }, ...categoryLegend(new Set(shownCategories(steps).map(({ number }) => number))));
  return framed({ ...frame, csv: () => table.csv(), saves: saveButtons(chart.picture('steps')) }, legend, chart.status, chart.canvas, table.element);
}
