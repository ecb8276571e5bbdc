/* Groups by stack as nodes of a flame graph.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import type { FlameNode } from './cells';

export interface StackBytes {
  frames: string[]; // outermost first; empty: no stack was recorded
  bytes: number;
}

const requestPart = 5; // ink of the frames that requested memory
const noStack = '(no stack)';

/* "malloc < load < main" as `memledger table --by stack` prints it */
export function framesOf(stack: string | null): string[] {
  return stack === null || stack === '' ? [] : stack.split(' < ').reverse();
}

/* "forward (model.py:42)" for "forward (/home/me/model.py:42)" */
export function shortFrame(frame: string): string {
  return frame.replace(/\((?:[^()]*\/)([^()/]+)\)$/, '($1)');
}

interface Building {
  node: FlameNode;
  children: Map<string, Building>;
}

function childOf(parent: Building, name: string): Building {
  const found = parent.children.get(name);
  if (found) return found;
  const above = parent.node.detail === 'all' ? '' : `${parent.node.detail} > `;
  const child: Building = { node: { name: shortFrame(name), detail: above + name, bytes: 0, part: null, children: [] }, children: new Map() };

  parent.children.set(name, child);
  return child;
}

/* The largest first. */
function finish(building: Building): FlameNode {
  const children = [...building.children.values()].map(finish).sort((a, b) => b.bytes - a.bytes);
  return { ...building.node, children };
}

export function stackRoot(groups: readonly StackBytes[]): FlameNode {
  const root: Building = { node: { name: 'all', detail: 'all', bytes: 0, part: null, children: [] }, children: new Map() };

  for (const { frames, bytes } of groups) {
    let at = root;
    root.node.bytes += bytes;
    for (const frame of frames.length > 0 ? frames : [noStack]) {
      at = childOf(at, frame);
      at.node.bytes += bytes;
    }
    if (frames.length > 0) at.node.part = requestPart;
  }
  return finish(root);
}
