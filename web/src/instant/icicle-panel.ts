/* The memory of an instant as an icicle of modules and categories.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import type { Answer } from '../api/client';
import type { Tree } from '../api/types';
import { nothing } from '../dom/notice';
import { saveButtons } from '../dom/save';
import { FlameGraph } from '../flame/graph';
import { panel } from './frame';
import { icicleRoot } from './icicle';
import { moduleTree } from './modules';

export function iciclePanel(answer: Answer<Tree>, search: string): HTMLElement {
  const tree = answer.data;

  if (tree.bytes === 0) return panel(answer, {}, nothing('Nothing was live at this moment.'));
  const graph = new FlameGraph(icicleRoot(tree, moduleTree(tree.rows)), search,
    'Icicle of modules and categories; the tree has the same numbers.');
  return panel(answer, { saves: saveButtons(graph.picture('icicle')) }, graph.status, graph.canvas);
}
