/* The rows of `memledger tree --by callees` as nodes of a flame graph.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import type { CallRow } from '../api/types';
import type { CallOrder } from '../state/state';
import type { FlameNode } from './cells';

export const requestPart = 5; // ink of the functions that request most of their memory themselves
const separator = ' > ';

export function fileName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/* "forward (model.py:42)", "malloc (libc.so.6)", "(3 small functions)", "(no stack)" */
export function callName(row: CallRow, place: (path: string) => string = fileName): string {
  if (row.function === null && row.functions === 0) return '(no stack)';
  if (row.function === null) return row.functions === 1 ? '(a small function)' : `(${row.functions} small functions)`;
  const file = row.file === null || row.file === '??' ? null : `${place(row.file)}${row.line === null ? '' : `:${row.line}`}`;
  const where = file ?? (row.library === null || row.function.endsWith(fileName(row.library) + ')') ? null : place(row.library));

  return where === null ? row.function : `${row.function} (${where})`;
}

/* Rows come with their depth, callers before callees or the other way round. Memory without a stack is in no
 * row. */
export function callRoot(rows: readonly CallRow[], total: number, order: CallOrder = 'callees'): FlameNode {
  const root: FlameNode = { name: 'all', detail: 'all', bytes: total, part: null, children: [] };
  const path: FlameNode[] = [root];

  for (const row of rows) {
    path.length = Math.min(row.depth, path.length);
    const parent = path[path.length - 1] as FlameNode;
    const above = parent === root ? '' : parent.detail + separator;
    const requests = row.function !== null && (order === 'callers' ? parent === root : 2 * row.own >= row.figure);
    const node: FlameNode = {
      name: callName(row), detail: above + callName(row, (path) => path), bytes: row.figure, part: requests ? requestPart : null, children: [],
    };

    parent.children.push(node);
    path.push(node);
  }
  return root;
}
