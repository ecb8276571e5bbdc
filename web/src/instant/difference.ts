/* What changed between two moments, group by group: as `memledger compare` prints it, or from the two
 * tables that an exported page has instead.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import type { ComparedInstants, Group, Table } from '../api/types';

export interface Change {
  names: Record<string, string | null>; // by key
  before: number;
  after: number;
  change: number;
}

function namesOf(group: Group, keys: readonly string[]): Record<string, string | null> {
  return Object.fromEntries(keys.map((key) => [key, group[key] === null ? null : String(group[key])]));
}

function identity(names: Record<string, string | null>, keys: readonly string[]): string {
  return JSON.stringify(keys.map((key) => names[key]));
}

function collect(table: Table, side: 'before' | 'after', found: Map<string, Change>): void {
  for (const group of table.groups) {
    const names = namesOf(group, table.by);
    const id = identity(names, table.by);
    const entry = found.get(id) ?? { names, before: 0, after: 0, change: 0 };

    entry[side] += group.bytes;
    entry.change = entry.after - entry.before;
    found.set(id, entry);
  }
}

/* Both tables have all groups and the same keys. The largest changes come first. */
export function difference(before: Table, after: Table): Change[] {
  const found = new Map<string, Change>();

  collect(before, 'before', found);
  collect(after, 'after', found);
  return [...found.values()]
    .filter((entry) => entry.change !== 0)
    .sort((a, b) => Math.abs(b.change) - Math.abs(a.change));
}

/* The entries of a comparison of two instants. The command begins with the largest changes. */
export function comparedChanges({ view }: ComparedInstants): Change[] {
  const keys = view.by ?? [];

  return view.entries
    .map((entry) => {
      const [before, after] = entry.runs.map(({ bytes }) => bytes ?? 0);
      const names = Object.fromEntries(keys.map((key) => [key, entry[key] === null ? null : String(entry[key])]));
      return { names, before: before ?? 0, after: after ?? 0, change: (after ?? 0) - (before ?? 0) };
    })
    .filter(({ change }) => change !== 0);
}
