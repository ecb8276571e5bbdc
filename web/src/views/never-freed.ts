/* The memory that a run without steps left behind, by stack, in the words of `memledger leaks --never-freed`: what was
 * lost and what the program could still reach, if it was searched.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { ask } from '../api/client';
import { fileQuery } from '../api/filters';
import type { LeftBlocks, LeftGroup, Leaks, NeverFreed } from '../api/types';
import { bytesColumn, countColumn, textColumn, type Column } from '../dom/columns';
import { h } from '../dom/element';
import { remarks } from '../dom/notice';
import { askingFrames, frameText } from '../dom/stack-text';
import { DataTable } from '../dom/table';
import { formatBytes } from '../format/bytes';
import type { State } from '../state/state';
import { plural } from './leak-words';

const reaches = [
  { key: 'definitely_lost', words: 'definitely lost' },
  { key: 'indirectly_lost', words: 'indirectly lost' },
  { key: 'reachable', words: 'still reachable' },
  { key: 'unknown', words: 'not searched for' },
] as const;

const stacksShown = 3;

function amount({ bytes, blocks }: { bytes: number; blocks: number }): string {
  return `${formatBytes(bytes)} in ${plural(blocks, 'block')}`;
}

export function leftCaption({ never_freed: left }: NeverFreed): string {
  return `Never freed: ${amount(left)}, from ${plural(left.groups, 'stack')}`;
}

/* "definitely lost: 64 B in 1 block; still reachable: 79.9 KiB in 33 blocks." */
export function reachSentence({ searched, never_freed: left }: NeverFreed): string {
  if (!searched) return 'Whether these blocks were lost or still reachable is not known: memledger run --scan-at-exit finds out.';
  const parts = reaches.flatMap(({ key, words }) => {
    const part = left[key];
    return part && part.blocks > 0 ? [`${words}: ${amount(part)}`] : [];
  });
  return `${parts.join('; ')}.`;
}

function reachColumns(data: NeverFreed): Column<LeftGroup>[] {
  const isThere = (key: keyof LeftBlocks) => data.groups.some((group) => ((group[key] as LeftBlocks | undefined)?.blocks ?? 0) > 0);
  return reaches.filter(({ key }) => isThere(key)).map(({ key, words }) => bytesColumn<LeftGroup>(words, (group) => group[key]?.bytes ?? 0));
}

function placeOf(group: LeftGroup): string | null {
  const [innermost] = askingFrames(group);
  return innermost ? frameText(innermost) : null;
}

function tableOf(data: NeverFreed, search: string): DataTable<LeftGroup> {
  const columns = [
    bytesColumn<LeftGroup>('bytes', (group) => group.bytes), countColumn<LeftGroup>('blocks', (group) => group.blocks),
    ...reachColumns(data), textColumn<LeftGroup>('allocated by', placeOf, '(no stack)'),
  ];
  return new DataTable<LeftGroup>({ caption: leftCaption(data), columns, rows: data.groups, search });
}

function stackOf(group: LeftGroup): HTMLElement[] {
  const frames = askingFrames(group).map((frame) => h('li', {}, frameText(frame)));
  return frames.length === 0 ? [] : [h('details', {}, h('summary', {}, `Stack of ${amount(group)}`), h('ol', { class: 'stack' }, ...frames))];
}

/* null: the run has steps, or everything was freed. The command has no --process. */
export async function neverFreed(leaks: Leaks, state: State): Promise<{ elements: HTMLElement[]; csv: () => string } | null> {
  if (!leaks.never_freed || leaks.never_freed.blocks === 0) return null;
  const { data } = await ask<NeverFreed>('leaks', fileQuery('leaks', { ...state, process: '' }, [['never-freed', '']]));
  const table = tableOf(data, state.search);
  const whose = state.process === '' ? [] : ['Of all processes: leaks --never-freed has no --process.'];

  return {
    elements: [table.element, remarks([...whose, reachSentence(data)]), ...data.groups.slice(0, stacksShown).flatMap(stackOf)].filter((e) => e !== null),
    csv: () => table.csv(),
  };
}
