/* The memory of an instant as an icicle: of modules, categories and lines, or of calls.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import type { Answer } from '../api/client';
import type { Calls, Table, Tree } from '../api/types';
import { nothing } from '../dom/notice';
import { saveButtons } from '../dom/save';
import { callLegend } from '../flame/call-legend';
import { callRoot } from '../flame/calls';
import type { FlameNode } from '../flame/cells';
import { flameCsv } from '../flame/flame-csv';
import { FlameGraph } from '../flame/graph';
import { panel } from './frame';
import { icicleRoot, linesByPlace } from './icicle';
import { moduleTree } from './modules';

function graphPanel(answers: readonly Answer<unknown>[], root: FlameNode, search: string, label: string, legend: Node | null): HTMLElement {
  const graph = new FlameGraph(root, search, label);

  return panel(answers, { csv: () => flameCsv(root), saves: saveButtons(graph.picture('icicle')) }, legend, graph.status, graph.canvas);
}

/* @lines  null: they are not known */
export function iciclePanel(answer: Answer<Tree>, lines: Answer<Table> | null, search: string): HTMLElement {
  const tree = answer.data;

  if (tree.bytes === 0) return panel([answer], {}, nothing('Nothing was live at this moment.'));
  const places = linesByPlace(lines?.data.groups ?? []);
  return graphPanel(places.size > 0 && lines ? [answer, lines] : [answer], icicleRoot(tree, moduleTree(tree.rows), places), search,
    'Icicle of modules, categories and lines; the tree and the table have the same numbers.', null);
}

export function callIciclePanel(answer: Answer<Calls>, search: string): HTMLElement {
  return graphPanel([answer], callRoot(answer.data.rows, answer.data.total.peak_bytes), search,
    'Icicle of calls; the tree has the same numbers.', callLegend());
}
