/* The ranks of a distributed job: which one differs from its peers, and why.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { ApiError, ask } from '../api/client';
import { filesOfJob } from '../api/files';
import { readOptions } from '../api/filters';
import type { Rank, Ranks, TraceFile } from '../api/types';
import { bytesColumn, changeColumn, countColumn, numberColumn, textColumn, type Column } from '../dom/columns';
import { h } from '../dom/element';
import { asSentence, nothing, remarks, withCommand } from '../dom/notice';
import { saveButtons } from '../dom/save';
import { DataTable } from '../dom/table';
import { formatBytes, formatCount, formatExact, formatPercent } from '../format/bytes';
import { initialState } from '../state/state';
import type { Store } from '../state/store';
import { failed, framed } from './frame';
import { RankMap } from './rank-map';

/* Shows one rank: its trace, and its process if other ranks are in the same trace. */
function opener(store: Store, files: readonly TraceFile[], ranks: Ranks): (rank: Rank) => void {
  return ({ file, pid }) => {
    const trace = files.find(({ path }) => path === file);
    const isAlone = ranks.ranks.filter((rank) => rank.file === file).length === 1;

    if (trace) store.update({ ...initialState, file: trace.id, process: isAlone ? '' : String(pid) });
  };
}

function findingsOf({ findings }: Ranks): HTMLElement {
  if (findings.length === 0) return h('p', {}, 'No rank differs from its peers.');
  return h('ul', { class: 'findings' }, ...findings.map(({ text }) => h('li', {}, text)));
}

function headOf(data: Ranks): HTMLElement {
  const isComplete = data.world_size === 0 || data.present === data.world_size; // 0: not recorded
  const of = isComplete ? formatCount(data.present) : `${formatCount(data.present)} of ${formatCount(data.world_size)}`;
  const hosts = data.hosts > 1 ? ` on ${formatCount(data.hosts)} machines` : '';

  return h('p', { class: 'heading' }, h('strong', {}, `${of} ${data.present === 1 && isComplete ? 'rank' : 'ranks'}`), `${hosts}, ${formatCount(data.steps)} steps; peaks from `,
    h('strong', { title: formatExact(data.peak_least_bytes) }, formatBytes(data.peak_least_bytes)), ' to ',
    h('strong', { title: formatExact(data.peak_most_bytes) }, formatBytes(data.peak_most_bytes)),
    `, ${formatBytes(data.peak_sum_bytes)} in all; imbalance ${formatPercent(data.imbalance_percent)}`);
}

function columnsOf(data: Ranks): Column<Rank>[] {
  const limits = data.ranks.some((rank) => rank.headroom_bytes !== undefined);

  return [
    numberColumn('rank', (rank) => rank.rank),
    bytesColumn('peak', (rank) => rank.peak_bytes),
    changeColumn('above its peers', (rank) => rank.above_bytes),
    bytesColumn('growth', (rank) => rank.growth_bytes),
    ...(limits ? [bytesColumn<Rank>('headroom', (rank) => rank.headroom_bytes ?? null)] : []),
    countColumn('steps', (rank) => rank.steps),
    countColumn('refused', (rank) => rank.ooms),
    textColumn('ended', (rank) => rank.ended),
    textColumn('device', (rank) => rank.device),
    textColumn('host', (rank) => rank.host),
    ...(data.ranks.some((rank) => rank.place !== '') ? [textColumn<Rank>('place', (rank) => rank.place)] : []),
  ];
}

function noRanks(error: unknown): HTMLElement {
  if (!(error instanceof ApiError) || error.status === 0) throw error;
  const advice = nothing(`${asSentence(error.message)} Open all traces of a job to see its ranks: memledger view FOLDER`);

  return failed('Ranks', withCommand(error, advice));
}

export async function ranksView(store: Store, files: readonly TraceFile[]): Promise<HTMLElement> {
  const { state } = store;
  const query = [...filesOfJob(files, state.file).map(({ id }) => ['file', String(id)] as const), ...readOptions(state)];
  const answer = await ask<Ranks>('ranks', query).catch((error: unknown) => noRanks(error));

  if (answer instanceof HTMLElement) return answer;
  const { data } = answer;
  const open = opener(store, files, data);
  const table = new DataTable<Rank>({
    caption: 'Ranks; a click opens one',
    columns: columnsOf(data),
    rows: data.ranks,
    search: state.search,
    action: { label: (rank) => `Open rank ${rank.rank}`, run: open },
  });
  const map = data.ranks.some((rank) => rank.step_peaks.length > 0) ? new RankMap(data, open) : null;

  return framed({ verb: 'ranks', title: 'Ranks', answer, state, csv: () => table.csv(), ...(map ? { saves: saveButtons(map.picture()) } : {}) },
    headOf(data), remarks(data.world_size === 0 ? ['No trace has a rank: they are numbered by name.'] : []), findingsOf(data), map?.status ?? null, map?.canvas ?? null, map?.scale ?? null, table.element);
}
