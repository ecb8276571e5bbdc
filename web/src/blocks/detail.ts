/* One block: everything that is known about it, and its neighbours.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import type { Answer } from '../api/client';
import type { Frame, Report, Tile } from '../api/types';
import { button, h } from '../dom/element';
import { nothing } from '../dom/notice';
import { toolbar } from '../dom/toolbar';
import { formatBytes, formatExact } from '../format/bytes';
import { toCsv } from '../format/csv';
import { formatDuration } from '../format/time';
import { words } from '../theme/categories';
import { frameText } from '../dom/stack-text';
import { hex } from './addresses';
import { nameOf } from './tile';

export interface BlockRow {
  address: string;
  bytes: number;
  requested_bytes: number;
  begin_ns: number;
  end_ns: number | null;
  device: string;
  space: string | null;
  pid: number;
  tid: number | null; // null: not known
  thread: string | null;
  stream: number | null;
  category: string;
  label: string | null;
  module: string | null;
  scope: string | null;
  phase: string | null;
  line: string | null;
  function: string | null;
  stack?: Frame[];
}

export interface BlockRows extends Report {
  list: BlockRow[];
}

/* What the picture itself says about a block, for pages that cannot ask. */
export function rowOf(tile: Tile, i: number): BlockRow {
  const { list } = tile;
  const bytes = list.bytes[i] ?? 0;
  const name = (fact: 'label' | 'module' | 'line' | 'function') => nameOf(tile, fact, i) || null;

  return {
    address: hex(list.address[i] ?? 0), bytes, requested_bytes: bytes, begin_ns: list.begin_ns[i] ?? 0,
    end_ns: list.freed[i] ? (list.end_ns[i] ?? 0) : null, device: nameOf(tile, 'device', i), space: null, pid: list.pid[i] ?? 0,
    tid: null, thread: null, stream: null, category: tile.categories[list.category[i] ?? 0] ?? 'other',
    label: name('label'), module: name('module'), scope: null, phase: null, line: name('line'), function: name('function'),
  };
}

/* The blocks below, at and above an address. */
export interface Neighbours {
  below: BlockRow | null;
  block: BlockRow;
  above: BlockRow | null;
}

export function neighboursOf(rows: readonly BlockRow[], address: number): Neighbours | null {
  const at = rows.findIndex((row) => Number(row.address) <= address && address < Number(row.address) + row.bytes);
  const block = rows[at];

  return block ? { below: rows[at - 1] ?? null, block, above: rows[at + 1] ?? null } : null;
}

function facts(block: BlockRow, momentText: (ns: number) => string): [string, string][] {
  const freed = block.end_ns === null ? 'not freed' : `${momentText(block.end_ns)}, after ${formatDuration(block.end_ns - block.begin_ns)}`;
  const list: [string, string | null][] = [
    ['size', `${formatBytes(block.bytes)} (${formatExact(block.bytes)})`],
    ['requested', block.requested_bytes === block.bytes ? null : formatExact(block.requested_bytes)],
    ['label', block.label],
    ['category', words(block.category)],
    ['module', block.module],
    ['scope', block.scope],
    ['phase', block.phase],
    ['line', block.line],
    ['function', block.function],
    ['allocated', momentText(block.begin_ns)],
    ['freed', freed],
    ['address', `${block.address} on ${block.device}${block.space === null ? '' : ` (${block.space})`}`],
    ['stream', block.stream === null ? null : `0x${block.stream.toString(16)}`],
    ['thread', block.tid === null ? `of process ${block.pid}` : `${block.thread ?? ''} ${block.tid} of process ${block.pid}`.trim()],
  ];
  return list.filter((entry): entry is [string, string] => entry[1] !== null);
}

/* The block and its neighbours, one row each. */
function factsCsv(found: Neighbours | null): string {
  const keys = ['address', 'bytes', 'requested_bytes', 'begin_ns', 'end_ns', 'device', 'space', 'pid', 'tid', 'stream', 'category', 'label', 'module', 'scope', 'phase', 'line', 'function'] as const;
  const rows = [found?.below, found?.block, found?.above].flatMap((row) => (row ? [keys.map((key) => row[key])] : []));
  return toCsv(keys, rows);
}

/* "256 B above blocks.0.norm1.bias" */
function neighbourText(side: string, gap: number, other: BlockRow): string {
  const name = other.label ?? other.module ?? other.line ?? other.function ?? words(other.category);
  return `${side}: ${name}, ${formatBytes(other.bytes)} at ${other.address}, ${gap === 0 ? 'adjacent' : `${formatBytes(gap)} away`}`;
}

function neighbourLines({ below, block, above }: Neighbours, choose: (address: string) => void): HTMLElement {
  const start = Number(block.address);
  const list = h('ul', { class: 'neighbours' });
  const add = (side: string, gap: number, other: BlockRow) =>
    list.append(h('li', {}, button(neighbourText(side, gap, other), () => choose(other.address))));

  if (above) add('above', Number(above.address) - start - block.bytes, above);
  if (below) add('below', start - Number(below.address) - below.bytes, below);
  return list;
}

export interface DetailOptions {
  address: number;
  momentText: (ns: number) => string;
  choose: (address: string) => void; // a neighbour
  showMoment: () => void;
}

export function blockDetail(answer: Answer<BlockRows>, options: DetailOptions): HTMLElement {
  const found = neighboursOf(answer.data.list, options.address);
  const tools = toolbar([answer.command], { csv: () => factsCsv(found), json: () => JSON.stringify(answer.data, null, 2) });

  if (!found) return h('section', { class: 'block-detail' }, tools, nothing('No block was live at this address then.'));
  const { block } = found;
  const list = h('dl', { class: 'block-facts' });
  for (const [name, value] of facts(block, options.momentText)) list.append(h('dt', {}, name), h('dd', {}, value));
  const frames = block.stack ?? [];
  const stack = frames.length > 0 ? h('ol', { class: 'stack' }, ...frames.map((frame) => h('li', {}, frameText(frame)))) : null;

  return h('section', { class: 'block-detail', 'aria-label': 'The chosen block' }, tools,
    h('h2', {}, block.label ?? block.module ?? block.function ?? words(block.category)), list,
    neighbourLines(found, options.choose), stack,
    h('p', {}, button('Show this moment in the timeline', options.showMoment)));
}
