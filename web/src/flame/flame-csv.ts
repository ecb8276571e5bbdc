/* A flame graph as comma-separated values: one line for each cell, below its parent.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { toCsv } from '../format/csv';
import type { FlameNode } from './cells';

type Row = [level: number, path: string, amount: number];

function rowsOf(node: FlameNode, level: number): Row[] {
  return [[level, node.detail, node.bytes], ...node.children.flatMap((child) => rowsOf(child, level + 1))];
}

/* @unit  title of the last column: bytes or calls */
export function flameCsv(root: FlameNode, unit: 'bytes' | 'calls' = 'bytes'): string {
  return toCsv(['level', 'path', unit], rowsOf(root, 0));
}
