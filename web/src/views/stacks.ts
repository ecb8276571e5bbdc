/* Memory by stack, as a flame graph: live at a moment, never freed, or freed again quickly.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { ask, type Query } from '../api/client';
import { fileQuery } from '../api/filters';
import type { Group, Table } from '../api/types';
import { bytesColumn, countColumn, percentColumn, textColumn } from '../dom/columns';
import { h, select } from '../dom/element';
import { nothing } from '../dom/notice';
import { saveButtons } from '../dom/save';
import { DataTable } from '../dom/table';
import { FlameGraph } from '../flame/graph';
import { framesOf, stackRoot } from '../flame/stacks';
import { formatBytes, formatCount } from '../format/bytes';
import { instantHeading } from '../instant/frame';
import { stackSums, type StackSum, type State } from '../state/state';
import type { Store } from '../state/store';
import { framed } from './frame';

const groupsMax = '10000';
const rowsShown = 200;

const sumTexts: Record<StackSum, string> = {
  at: 'live at the chosen moment', end: 'live at the end: never freed', temporary: 'temporary: freed again quickly',
};

function options(state: State): Query {
  const which: Query = state.sum === 'temporary' ? [['temporary', '']] : [['at', state.sum === 'end' ? 'end' : state.at]];
  return [...which, ['by', 'stack'], ['top', groupsMax]];
}

function stackText(group: Group): string | null {
  return group.stack === null || group.stack === undefined ? null : String(group.stack);
}

function chooser(store: Store): HTMLElement {
  const choices = stackSums.map((value) => ({ value, text: sumTexts[value] }));
  return select('Show', choices, store.state.sum, (sum) => store.update({ sum: sum as StackSum }));
}

/* The number of blocks of a group; temporary ones are counted as allocations. */
function countOf(group: Group): number {
  return Number(group.blocks ?? group.allocations ?? 0);
}

export async function stacksView(store: Store): Promise<HTMLElement> {
  const { state } = store;
  const verb = state.sum === 'temporary' ? 'table --temporary' : 'table';
  const answer = await ask<Table>('table', [...fileQuery(verb, state), ...options(state)]);
  const { groups, rest } = answer.data;
  const frame = { verb, title: 'Stacks', answer, state };
  const moment = state.sum === 'temporary' ? null : instantHeading(answer.data);
  const controls = h('div', { class: 'bar-line' }, chooser(store), moment);

  if (groups.length === 0) return framed(frame, controls, nothing('There is no memory to show.'));
  if (groups.every((group) => stackText(group) === null))
    return framed(frame, controls, nothing('No stacks were recorded: memledger run --stacks python, or --heap --stacks native.'));
  const graph = new FlameGraph(stackRoot(groups.map((group) => ({ frames: framesOf(stackText(group)), bytes: group.bytes }))), state.search,
    'Flame graph of stacks; the table below has the same numbers.');
  const table = new DataTable<Group>({
    caption: 'Memory by stack',
    columns: [
      bytesColumn('bytes', (group) => group.bytes),
      percentColumn('share', (group) => group.percent),
      countColumn('blocks', countOf),
      textColumn('stack', stackText, '(no stack)'),
    ],
    rows: groups.slice(0, rowsShown),
    search: state.search,
  });
  const more = groups.length + rest.groups - Math.min(groups.length, rowsShown);
  const remark = more > 0 ? h('p', { class: 'more' }, `${formatCount(more)} more stacks; ${formatBytes(rest.bytes)} of them are not in the graph`) : null;

  return framed({ ...frame, csv: () => table.csv(), saves: saveButtons(graph.picture('stacks')) }, controls, graph.status, graph.canvas, table.element, remark);
}
