/* Memory that grows from step to step.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { ask } from '../api/client';
import { fileQuery } from '../api/filters';
import type { Leak, Leaks } from '../api/types';
import { bytesColumn, changeColumn, textColumn, type Column } from '../dom/columns';
import { h } from '../dom/element';
import { nothing } from '../dom/notice';
import { DataTable } from '../dom/table';
import { formatBytes, formatChange } from '../format/bytes';
import { keyColumn } from '../instant/table-panel';
import type { Store } from '../state/store';
import { framed } from './frame';
import { frameText } from '../dom/stack-text';

/* A run without steps is cut into slices. */
function unitOf(data: Leaks): string {
  return data.by_slices_of === 'step' ? 'step' : 'slice';
}

function unitsOf(data: Leaks): string {
  const kinds: Record<string, string> = { time: 'slices of equal time', events: 'slices of equally many events' };
  return kinds[data.by_slices_of] ?? (data.measured === 1 ? 'step' : 'steps');
}

function summary(data: Leaks): HTMLElement {
  const unit = unitOf(data);
  const change = data.bytes_per_step === 0 ? 'no change' : formatChange(data.bytes_per_step);
  const text =
    `${data.measured} ${unitsOf(data)}, ${data.first_step} to ${data.last_step}; ${data.warm_up} before ${data.warm_up === 1 ? 'is' : 'are'} warm-up. ` +
    `Live ${formatBytes(data.from_bytes)} before them, ${formatBytes(data.to_bytes)} after: ${change} a ${unit}.`;
  return h('p', { class: 'heading' }, text);
}

/* "+1", "+0.57" */
function blocksText(blocks: number): string {
  const text = String(Math.round(100 * blocks) / 100);
  return blocks > 0 ? `+${text}` : text;
}

function columnsOf(data: Leaks): Column<Leak>[] {
  return [
    changeColumn(`bytes/${unitOf(data)}`, (leak) => leak.bytes_per_step),
    { title: 'blocks', numeric: true, value: (leak) => leak.blocks_per_step, text: (leak) => blocksText(leak.blocks_per_step) },
    { title: 'grew in', numeric: true, value: (leak) => leak.grew_in_steps, text: (leak) => `${leak.grew_in_steps}/${data.measured}` },
    bytesColumn('live', (leak) => leak.live_bytes),
    textColumn('sign', (leak) => leak.sign),
    ...data.by.map((key) => keyColumn<Leak>(key, (leak) => (leak[key] as string | null) ?? null)),
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

export async function leaksView(store: Store): Promise<HTMLElement> {
  const { state } = store;
  const answer = await ask<Leaks>('leaks', fileQuery('leaks', state));
  const { data } = answer;
  const frame = { verb: 'leaks', title: 'Leaks', answer, state };

  if (data.leaks.length === 0) return framed(frame, summary(data), nothing('Nothing grew.'));
  const table = new DataTable<Leak>({ caption: 'What grows', columns: columnsOf(data), rows: data.leaks, search: state.search });
  const meaning = h('p', { class: 'quiet' },
    'steady: it grew in every step; likely: it never shrank and still grows; maybe: it shrank in between, or there are too few steps to tell.');
  return framed({ ...frame, csv: () => table.csv() }, summary(data), table.element, meaning, ...stacks(data));
}
