/* Training steps as a table; a step leads to its peak in the timeline.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { ask } from '../api/client';
import { fileQuery } from '../api/filters';
import type { Step, Steps } from '../api/types';
import { bytesColumn, countColumn, partColumn, timeColumn, type Column } from '../dom/columns';
import { nothing } from '../dom/notice';
import { DataTable } from '../dom/table';
import type { Store } from '../state/store';
import { categories, words } from '../theme/categories';
import { framed } from './frame';

type Line = Omit<Step, 'step'> & { step: number | null }; // null: after the last step

function partOf(line: Line, category: string): number {
  return line.by_category.find((part) => part.category === category)?.at_peak_bytes ?? 0;
}

function columnsOf(lines: readonly Line[]): Column<Line>[] {
  const shown = categories.filter(({ name }) => lines.some((line) => partOf(line, name) > 0));

  return [
    { title: 'step', numeric: true, value: (line) => line.step, text: (line) => (line.step === null ? 'after' : String(line.step)) },
    timeColumn('begin', (line) => line.begin_ns),
    timeColumn('duration', (line) => line.end_ns - line.begin_ns),
    bytesColumn('peak', (line) => line.peak_bytes),
    bytesColumn('at end', (line) => line.end_bytes),
    countColumn('allocs', (line) => line.allocations),
    ...shown.map(({ name, title }) => partColumn<Line>(title, words(name), (line) => partOf(line, name))),
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
  return framed({ ...frame, csv: () => table.csv() }, table.element);
}
