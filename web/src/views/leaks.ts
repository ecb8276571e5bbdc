/* Memory that grows from step to step, and what was never freed where nothing grows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { ask } from '../api/client';
import { fileQuery, unfiltered } from '../api/filters';
import type { Growth, Leak, Leaks, Summary } from '../api/types';
import { bytesColumn, changeColumn, textColumn, type Column } from '../dom/columns';
import { h } from '../dom/element';
import { nothing, remarks } from '../dom/notice';
import { DataTable } from '../dom/table';
import { formatChange } from '../format/bytes';
import { keyColumn } from '../instant/table-panel';
import type { Store } from '../state/store';
import { framed } from './frame';
import { askingFrames, frameText } from '../dom/stack-text';
import { afterCaption, blocksText, fateSentence, methodSentences, nothingGrows, rangeSentence, unitOf } from './leak-words';
import { neverFreed } from './never-freed';

function leftColumns(data: Growth): Column<Leak>[] {
  const isKnown = data.leaks.some((leak) => leak.never_freed_bytes !== undefined);
  return isKnown ? [bytesColumn('never freed', (leak) => leak.never_freed_bytes ?? null)] : [];
}

function columnsOf(data: Growth, by: readonly string[]): Column<Leak>[] {
  return [
    changeColumn(`bytes/${unitOf(data)}`, (leak) => leak.bytes_per_step),
    { title: 'blocks', numeric: true, value: (leak) => leak.blocks_per_step, text: (leak) => blocksText(leak, data.measured) },
    { title: 'grew in', numeric: true, value: (leak) => leak.grew_in_steps, text: (leak) => `${leak.grew_in_steps}/${data.measured}` },
    bytesColumn('live', (leak) => leak.live_bytes),
    ...leftColumns(data),
    textColumn('sign', (leak) => leak.sign),
    ...by.map((key) => keyColumn<Leak>(key, (leak) => (leak[key] as string | null) ?? null)),
  ];
}

function stacks(data: Leaks): HTMLElement[] {
  return data.leaks.flatMap((leak) => {
    const frames = askingFrames(leak.example);
    if (frames.length === 0) return [];
    const title = h('summary', {}, `Stack of ${formatChange(leak.bytes_per_step)} a ${unitOf(data)}`);
    return [h('details', { open: true }, title, h('ol', { class: 'stack' }, ...frames.map((f) => h('li', {}, frameText(f)))))];
  });
}

function growthTable(data: Growth, by: readonly string[], caption: string, search: string): DataTable<Leak> {
  return new DataTable<Leak>({ caption, columns: columnsOf(data, by), rows: data.leaks, search });
}

function afterSteps({ after_steps: after, by }: Leaks, search: string): HTMLElement[] {
  return after ? [growthTable(after, by, afterCaption(after), search).element] : [];
}

export async function leaksView(store: Store): Promise<HTMLElement> {
  const { state } = store;
  const [answer, summary] = await Promise.all([
    ask<Leaks>('leaks', fileQuery('leaks', state)), ask<Summary>('summary', fileQuery('summary', unfiltered(state))),
  ]);
  const { data } = answer;
  const frame = { verb: 'leaks', title: 'Leaks', answer, state };
  const head = [remarks(methodSentences(data)), h('p', { class: 'heading' }, rangeSentence(data))];

  if (summary.data.allocations === 0) return framed(frame, nothing('No allocation was recorded: whether anything grows cannot be known.'));
  if (data.measured === 0) return framed(frame, ...head);
  const left = await neverFreed(data, state);
  if (data.leaks.length === 0)
    return framed({ ...frame, ...(left ? { csv: left.csv } : {}) }, ...head, nothing(nothingGrows(data)), ...afterSteps(data, state.search), ...(left?.elements ?? []));
  const table = growthTable(data, data.by, 'What grows', state.search);
  const meaning = h('p', { class: 'quiet' },
    `steady: it grew in every ${unitOf(data)}; likely: it never shrank and still grows; maybe: it shrank in between, or there are too few ${unitOf(data)}s to tell.`);
  return framed({ ...frame, csv: () => table.csv() }, ...head, table.element, meaning, remarks(fateSentence(data)), ...stacks(data),
    ...afterSteps(data, state.search), ...(left?.elements ?? []));
}
