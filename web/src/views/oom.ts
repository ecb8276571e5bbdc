/* Why an allocation was refused, who held the memory, and what would have made room.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { ask } from '../api/client';
import { fileQuery } from '../api/filters';
import type { Oom, OomChange, OomVerdict } from '../api/types';
import { bytesColumn, countColumn, percentColumn, textColumn } from '../dom/columns';
import { button, h } from '../dom/element';
import { DataTable } from '../dom/table';
import { formatDuration } from '../format/time';
import { keyColumn } from '../instant/table-panel';
import type { Store } from '../state/store';
import { framed } from './frame';
import { changeText, enoughText, freeSentences, requestSentence } from './oom-words';

type Holder = OomVerdict['holders'][number];

function holders(verdict: OomVerdict, search: string): DataTable<Holder> {
  const text = (key: string) => keyColumn<Holder>(key, (row) => (row[key] as string | null) ?? null);

  return new DataTable<Holder>({
    caption: 'Who held the live memory',
    columns: [
      bytesColumn('bytes', (row) => row.bytes),
      percentColumn('share', (row) => row.percent),
      countColumn('blocks', (row) => row.blocks),
      text('module'), text('category'), text('line'),
    ],
    rows: verdict.holders,
    search,
  });
}

function changes(verdict: OomVerdict): HTMLElement {
  if (verdict.changes.length === 0) return h('p', {}, 'None of the known changes would have made room.');
  return new DataTable<OomChange>({
    caption: 'What would make room',
    columns: [
      bytesColumn('bytes', (change) => change.bytes),
      textColumn('enough', (change) => enoughText(change.enough)),
      textColumn('change', changeText),
    ],
    rows: verdict.changes,
  }).element;
}

function section(verdict: OomVerdict, table: DataTable<Holder>, store: Store): HTMLElement {
  const name = verdict.number === null ? 'killed' : `oom:${verdict.number}`;
  const title = `Out of memory (${name}) at ${formatDuration(verdict.at_ns)}: ${verdict.verdict}`;
  const prose = [requestSentence(verdict), ...freeSentences(verdict)].join(' ');
  const show = () => store.update({ view: 'timeline', at: verdict.number === null ? `${verdict.at_ns}ns` : name });

  return h('article', {}, h('h2', {}, title), h('p', { class: 'prose' }, prose),
    button('Show this moment in the timeline', show), table.element, changes(verdict));
}

export async function oomView(store: Store): Promise<HTMLElement> {
  const { state } = store;
  const answer = await ask<Oom>('oom', fileQuery('oom', state));
  const tables = answer.data.verdicts.map((verdict) => holders(verdict, state.search));
  const sections = answer.data.verdicts.map((v, i) => section(v, tables[i] as DataTable<Holder>, store));
  const csv = () => tables.map((table) => table.csv()).join('\n');

  return framed({ verb: 'oom', title: 'Out of memory', answer, state, csv }, ...sections);
}
