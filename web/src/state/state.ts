/* The state of the page, which the fragment of its address contains: a link shows the same view.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { parseTime, parseTimeOption, timeOption } from '../format/time';

export const views = ['timeline', 'blocks', 'stacks', 'summary', 'processes', 'steps', 'leaks', 'oom', 'compare', 'ranks'] as const;
export const bandKeys = ['category', 'module', 'device', 'process', 'rank'] as const;
export const panels = ['tree', 'table', 'icicle', 'ledger', 'difference', 'events'] as const;
export const groupKeys = [
  'module', 'category', 'label', 'scope', 'class', 'phase', 'thread', 'stack', 'function', 'file', 'library', 'line', 'device', 'space', 'process',
] as const;

export const depthMax = 12;
export const layouts = ['stacked', 'address', 'segments'] as const;
export const stackSums = ['peak', 'leaked', 'allocated', 'temporary', 'calls'] as const;
export const callOrders = ['callees', 'callers'] as const;
export const comparisons = ['entry', 'step', 'phase'] as const;

export type View = (typeof views)[number];
export type BandKey = (typeof bandKeys)[number];
export type Panel = (typeof panels)[number];
export type BlockLayout = (typeof layouts)[number];
export type StackSum = (typeof stackSums)[number];
export type CallOrder = (typeof callOrders)[number];
export type Comparison = (typeof comparisons)[number];

export interface State {
  view: View;
  file: number;
  other: number | 'all' | null; // the file to compare with; null: the next one
  each: Comparison; // entries at the moment, or the peaks of steps or phases
  salvage: boolean; // skip damaged blocks
  by: BandKey;
  depth: number | null; // of modules in the timeline; null: as fits
  from: number | null; // of the timeline, in ns; null: fitted to the steps
  to: number | null;
  at: string; // as for --at
  base: string; // the other moment of a difference; empty: none
  panel: Panel;
  keys: string[]; // of the table
  layout: BlockLayout;
  block: string; // the chosen block: address, moment, process
  sum: StackSum; // of stacks, as for --of; peak: at the chosen moment
  calls: CallOrder; // of stacks, as for tree --by
  device: string;
  process: string;
  search: string;
}

export const initialState: State = {
  view: 'timeline',
  file: 0,
  other: null,
  each: 'entry',
  salvage: false,
  by: 'category',
  depth: null,
  from: null,
  to: null,
  at: 'peak',
  base: '',
  panel: 'tree',
  keys: ['module', 'category'],
  layout: 'stacked',
  block: '',
  sum: 'peak',
  calls: 'callees',
  device: '',
  process: '',
  search: '',
};

function among<T extends string>(list: readonly T[], text: string | null, absent: T): T {
  return list.find((item) => item === text) ?? absent;
}

function whole(text: string | null): number | null {
  return text !== null && /^\d{1,16}$/.test(text) ? Number(text) : null;
}

/* Instants that --at accepts; anything else in an address is ignored. */
export function isInstant(text: string): boolean {
  return /^(peak|end|oom(:\d{1,9})?|step:\d{1,12}(:end)?)$/.test(text) || parseTimeOption(text) !== null;
}

/* What a person types, as for --at: "peak", "step 3", "step:3:end", "1.5s"; null: no moment. */
export function parseMoment(text: string): string | null {
  const words = text.trim().toLowerCase().replace(/^(step|oom) ?:? ?(?=\d)/, '$1:');
  const ns = parseTime(words);

  if (ns !== null) return timeOption(ns);
  return isInstant(words) ? words : null;
}

/* "0x7f00@12ns@4000": an address, a moment and a process */
export function isBlock(text: string): boolean {
  return parseBlock(text) !== null;
}

export function parseBlock(text: string): { address: number; at: string; pid: string } | null {
  const match = /^(0x[0-9a-f]{1,13})@(\d{1,16}ns)@(\d{1,10})$/.exec(text);
  return match ? { address: Number(match[1]), at: match[2] as string, pid: match[3] as string } : null;
}

function instant(text: string | null, absent: string): string {
  return text !== null && isInstant(text) ? text : absent;
}

function keysOf(text: string | null): string[] {
  const keys = groupKeys.filter((key) => (text ?? '').split(',').includes(key));
  const ordered = (text ?? '').split(',').filter((key) => (keys as string[]).includes(key));
  return ordered.length > 0 ? [...new Set(ordered)] : initialState.keys;
}

function depthOf(text: string | null): number | null {
  const depth = whole(text);
  return depth !== null && depth >= 1 && depth <= depthMax ? depth : null;
}

function span(from: number | null, to: number | null): Pick<State, 'from' | 'to'> {
  return from !== null && to !== null && from < to ? { from, to } : { from: null, to: null };
}

export function parseState(hash: string): State {
  const q = new URLSearchParams(hash.replace(/^#/, ''));

  return {
    view: among(views, q.get('view'), initialState.view),
    file: whole(q.get('file')) ?? initialState.file,
    other: q.get('other') === 'all' ? 'all' : whole(q.get('other')),
    each: among(comparisons, q.get('each'), initialState.each),
    salvage: q.get('salvage') === 'true',
    by: among(bandKeys, q.get('by'), initialState.by),
    depth: depthOf(q.get('depth')),
    ...span(whole(q.get('from')), whole(q.get('to'))),
    at: instant(q.get('at'), initialState.at),
    base: instant(q.get('base'), initialState.base),
    panel: among(panels, q.get('panel'), initialState.panel),
    keys: keysOf(q.get('keys')),
    layout: among(layouts, q.get('layout'), initialState.layout),
    block: isBlock(q.get('block') ?? '') ? (q.get('block') ?? '') : '',
    sum: among(stackSums, q.get('sum'), initialState.sum),
    calls: among(callOrders, q.get('calls'), initialState.calls),
    device: q.get('device') ?? '',
    process: q.get('process') ?? '',
    search: q.get('search') ?? '',
  };
}

/* Only what differs from the initial state, so that links stay short. */
export function formatState(state: State): string {
  const q = new URLSearchParams();

  for (const key of Object.keys(initialState) as (keyof State)[]) {
    const value = String(state[key] ?? '');
    if (value !== String(initialState[key] ?? '')) q.set(key, value);
  }
  return q.toString();
}
