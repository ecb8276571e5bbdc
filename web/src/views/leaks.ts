/* Memory that grows from step to step, and what was never freed where nothing grows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { ask } from '../api/client';
import { fileQuery, unfiltered } from '../api/filters';
import type { Group, Growth, Leak, Leaks, Summary } from '../api/types';
import { bytesColumn, changeColumn, countColumn, textColumn, type Column } from '../dom/columns';
import { h } from '../dom/element';
import { nothing, remarks } from '../dom/notice';
import { DataTable } from '../dom/table';
import { formatChange } from '../format/bytes';
import { keyColumn } from '../instant/table-panel';
import type { Store } from '../state/store';
import { framed } from './frame';
import { frameText } from '../dom/stack-text';
import { afterCaption, methodSentences, neverFreedCaption, nothingGrows, rangeSentence, unitOf } from './leak-words';

/* "+1", "+0.57" */
function blocksText(blocks: number): string {
  const text = String(Math.round(100 * blocks) / 100);
  return blocks > 0 ? `+${text}` : text;
}

function columnsOf(data: Growth, by: readonly string[]): Column<Leak>[] {
  return [
    changeColumn(`bytes/${unitOf(data)}`, (leak) => leak.bytes_per_step),
    { title: 'blocks', numeric: true, value: (leak) => leak.blocks_per_step, text: (leak) => blocksText(leak.blocks_per_step) },
    { title: 'grew in', numeric: true, value: (leak) => leak.grew_in_steps, text: (leak) => `${leak.grew_in_steps}/${data.measured}` },
    bytesColumn('live', (leak) => leak.live_bytes),
    textColumn('sign', (leak) => leak.sign),
    ...by.map((key) => keyColumn<Leak>(key, (leak) => (leak[key] as string | null) ?? null)),
  ];
}

function stacks(data: Leaks): HTMLElement[] {
  return data.leaks.flatMap((leak) => {
    const frames = leak.example?.stack ?? [];
    if (frames.length === 0) return [];
    const title = h('summary', {}, `Stack of ${formatChange(leak.bytes_per_step)} a ${unitOf(data)}`);
    return [h('details', { open: true }, title, h('ol', { class: 'stack' }, ...frames.map((f) => h('li', {}, frameText(f)))))];
  });
}

function growthTable(data: Growth, by: readonly string[], caption: string, search: string): DataTable<Leak> {
  return new DataTable<Leak>({ caption, columns: columnsOf(data, by), rows: data.leaks, search });
}

/* The memory that a run left behind need not have grown. */
function neverFreed({ never_freed: left, by }: Leaks, search: string): DataTable<Group> | null {
  if (!left || left.blocks === 0) return null;
  const names = by.map((key) => keyColumn<Group>(key, (group) => (group[key] as string | null) ?? null));
  const columns = [bytesColumn<Group>('bytes', (group) => group.bytes), countColumn<Group>('blocks', (group) => group.blocks), ...names];
  return new DataTable<Group>({ caption: neverFreedCaption(left), columns, rows: left.largest, search });
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
  if (data.leaks.length === 0) {
    const left = neverFreed(data, state.search);
    return framed({ ...frame, ...(left ? { csv: () => left.csv() } : {}) }, ...head, nothing(nothingGrows(data)), ...afterSteps(data, state.search), left?.element ?? null);
  }
  const table = growthTable(data, data.by, 'What grows', state.search);
  const meaning = h('p', { class: 'quiet' },
    `steady: it grew in every ${unitOf(data)}; likely: it never shrank and still grows; maybe: it shrank in between, or there are too few ${unitOf(data)}s to tell.`);
  return framed({ ...frame, csv: () => table.csv() }, ...head, table.element, meaning, ...stacks(data), ...afterSteps(data, state.search));
}
