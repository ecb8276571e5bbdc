/* Memory by the calls that requested it, as a flame graph and by function: live at a moment, never freed,
 * allocated in the whole run, or freed again quickly.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { ask, type Query } from '../api/client';
import { fileQuery } from '../api/filters';
import type { Calls, FunctionGroup, FunctionTable } from '../api/types';
import { bytesColumn, countColumn, percentColumn, textColumn, type Column } from '../dom/columns';
import { h, select } from '../dom/element';
import { nothing } from '../dom/notice';
import { saveButtons } from '../dom/save';
import { DataTable } from '../dom/table';
import { toolbar } from '../dom/toolbar';
import { callLegend } from '../flame/call-legend';
import { callRoot } from '../flame/calls';
import { flameCsv } from '../flame/flame-csv';
import { FlameGraph } from '../flame/graph';
import { formatBytes, formatCount } from '../format/bytes';
import { instantHeading } from '../instant/frame';
import { callOrders, stackSums, type CallOrder, type StackSum, type State } from '../state/state';
import type { Store } from '../state/store';
import { framed } from './frame';

const leastPercent = '0.05'; // smaller ones are folded: they are no pixel wide
const functionsMax = '1000';

const sumTexts: Record<StackSum, string> = {
  peak: 'live at the chosen moment', leaked: 'never freed', allocated: 'allocated in the whole run',
  temporary: 'temporary: freed again quickly', calls: 'calls, not bytes',
};

const orderTexts: Record<CallOrder, string> = { callees: 'from main to what it calls', callers: 'from requests to their callers' };

/* --of peak is the chosen moment; the others are sums of the whole run. */
function whichOptions(state: State): Query {
  return state.sum === 'peak' ? [['at', state.at], ['of', 'peak']] : [['of', state.sum]];
}

function chooser(store: Store): HTMLElement {
  const { state } = store;
  const sums = stackSums.map((value) => ({ value, text: sumTexts[value] }));
  const orders = callOrders.map((value) => ({ value, text: orderTexts[value] }));

  return h('div', { class: 'bar-line' },
    select('Show', sums, state.sum, (sum) => store.update({ sum: sum as StackSum })),
    select('Calls', orders, state.calls, (calls) => store.update({ calls: calls as CallOrder })));
}

function totalOf({ total }: Calls, sum: StackSum): number {
  return sum === 'calls' ? total.calls : total[`${sum}_bytes`];
}

function functionColumns(): Column<FunctionGroup>[] {
  return [
    bytesColumn('at the moment', (row) => row.peak_bytes),
    countColumn('blocks', (row) => row.peak_blocks),
    bytesColumn('never freed', (row) => row.leaked_bytes),
    bytesColumn('allocated', (row) => row.allocated_bytes),
    countColumn('calls', (row) => row.calls),
    bytesColumn('temporary', (row) => row.temporary_bytes),
    percentColumn('share', (row) => row.percent),
    textColumn('function', (row) => row.function, '(no stack)'),
    textColumn('file', (row) => row.file),
  ];
}

/* The functions that requested memory themselves. */
function functionsTable(data: FunctionTable, sum: StackSum, search: string): DataTable<FunctionGroup> {
  return new DataTable<FunctionGroup>({
    caption: `Functions that request memory, by ${sumTexts[sum].replace(/[:,].*/, '')}`, columns: functionColumns(), rows: data.groups, search,
  });
}

export async function stacksView(store: Store): Promise<HTMLElement> {
  const { state } = store;
  const [answer, functions] = await Promise.all([
    ask<Calls>('tree', fileQuery('tree', state, [...whichOptions(state), ['min', leastPercent], ['by', state.calls]])),
    ask<FunctionTable>('table', fileQuery('table', state, [...whichOptions(state), ['by', 'function,file'], ['top', functionsMax]])),
  ]);
  const { rows } = answer.data;
  const total = totalOf(answer.data, state.sum);
  const frame = { verb: 'tree', title: 'Stacks', answer, state };
  const moment = state.sum === 'peak' ? instantHeading(answer.data, state.at) : h('p', { class: 'heading' },
    `${state.sum === 'calls' ? formatCount(total) : formatBytes(total)} ${sumTexts[state.sum].replace(/[:,].*/, '')}`);
  const controls = h('div', {}, chooser(store), moment);

  if (total === 0) return framed(frame, controls, nothing('There is no memory to show.'));
  if (functions.data.groups.every((group) => group.function === null))
    return framed(frame, controls, nothing('No stacks were recorded: memledger run --stacks python, or --heap --stacks native.'));
  const unit = state.sum === 'calls' ? 'calls' : 'bytes';
  const root = callRoot(rows, total, state.calls);
  const graph = new FlameGraph(root, state.search, 'Flame graph of calls; the table below has its functions.', unit);
  const table = functionsTable(functions.data, state.sum, state.search);
  const tools = toolbar([functions.command], { csv: () => table.csv(), json: () => JSON.stringify(functions.data, null, 2) });

  return framed({ ...frame, csv: () => flameCsv(root, unit), saves: saveButtons(graph.picture('stacks')) }, controls, callLegend(state.calls), graph.status, graph.canvas, h('div', {}, tools), h('div', { class: 'functions' }, table.element));
}
