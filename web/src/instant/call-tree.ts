/* The calls of a trace without modules, in the shape of a tree of modules.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import type { CallRow, Calls, Tree, TreeRow } from '../api/types';
import { callName } from '../flame/calls';

/* Everything is in the row "(no module)". */
export function hasModules(tree: Pick<Tree, 'rows'>): boolean {
  return tree.rows.some((row) => row.name !== null);
}

function rowOf(row: CallRow, path: string, total: number): TreeRow {
  return {
    depth: row.depth, module: path, name: callName(row), class: null, modules: 0, hidden_modules: 0,
    bytes: row.figure, percent: (100 * row.figure) / Math.max(total, 1), blocks: 0, own_bytes: row.own,
    by_category: { other: row.figure }, own_by_category: {},
  };
}

/* Categories say nothing about calls: the tree has none, and its bars have one ink. */
export function callTree(calls: Calls): Tree {
  const total = calls.total.peak_bytes;
  const open: string[] = []; // the calls above the row
  const rows = calls.rows.map((row) => {
    open.length = Math.min(row.depth - 1, open.length);
    open.push(callName(row));
    return rowOf(row, open.join(' > '), total);
  });

  return { ...calls, from_scopes: false, bytes: total, blocks: calls.total.peak_blocks, by_category: {}, rows };
}
