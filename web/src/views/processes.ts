/* Processes and threads: who allocated how much.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { ask } from '../api/client';
import { fileQuery } from '../api/filters';
import type { Stats, Summary } from '../api/types';
import { bytesColumn, countColumn, numberColumn, textColumn, timeColumn } from '../dom/columns';
import { h } from '../dom/element';
import { nothing } from '../dom/notice';
import { DataTable } from '../dom/table';
import { toolbar } from '../dom/toolbar';
import type { Store } from '../state/store';
import { framed } from './frame';

type Process = Summary['processes'][number];
type Thread = Stats['threads'][number];

function endText(process: Process, isRecording: boolean): string {
  if (process.signal !== null) return `signal ${process.signal}`;
  if (process.exit_code !== null) return `exit ${process.exit_code}`;
  return process.ended ?? (isRecording ? 'runs' : 'unknown');
}

function processesTable({ processes, health }: Summary, store: Store): DataTable<Process> {
  const { state } = store;

  return new DataTable<Process>({
    caption: 'Processes; a click shows only this one, another click all',
    columns: [
      numberColumn('pid', (row) => row.pid),
      bytesColumn('peak', (row) => row.peak_bytes),
      timeColumn('at', (row) => (row.peak_bytes > 0 ? row.peak_time_ns : null)),
      countColumn('allocations', (row) => row.allocations),
      bytesColumn('allocated', (row) => row.allocated_bytes),
      bytesColumn('never freed', (row) => row.never_freed_bytes),
      countColumn('threads', (row) => row.threads),
      timeColumn('start', (row) => row.start_ns),
      timeColumn('end', (row) => row.end_ns),
      textColumn('ended', (row) => endText(row, health.being_written)),
      ...(processes.some(({ role }) => role) ? [textColumn<Process>('role', (row) => row.role ?? null)] : []),
      textColumn('command', (row) => row.command),
    ],
    rows: processes,
    search: state.search,
    action: { label: (row) => `Filter by process ${row.pid}`, run: (row) => store.update({ process: state.process === String(row.pid) ? '' : String(row.pid) }) },
    isMarked: (row) => state.process === String(row.pid),
  });
}

function threadsTable(threads: Thread[], search: string): DataTable<Thread> {
  return new DataTable<Thread>({
    caption: 'Threads',
    columns: [
      numberColumn('pid', (row) => row.pid),
      numberColumn('tid', (row) => row.tid),
      textColumn('name', (row) => row.name),
      countColumn('allocations', (row) => row.allocations),
      bytesColumn('allocated', (row) => row.allocated_bytes),
      countColumn('frees', (row) => row.frees),
      countColumn('temporary', (row) => row.temporary_allocations),
      countColumn('events', (row) => row.events),
    ],
    rows: threads,
    search,
  });
}

export async function processesView(store: Store): Promise<HTMLElement> {
  const { state } = store;
  const [summary, stats] = await Promise.all([
    ask<Summary>('summary', fileQuery('summary', state)),
    ask<Stats>('stats', fileQuery('stats', state, [['top', '1000']])),
  ]);
  const frame = { verb: 'summary', title: 'Processes and threads', answer: summary, state };

  if (summary.data.processes.length === 0) return framed(frame, nothing('The trace names no process.'));
  const tables = { processes: processesTable(summary.data, store), threads: threadsTable(stats.data.threads, state.search) };
  tables.processes.element.classList.add('with-commands');
  return framed({ ...frame, csv: () => tables.processes.csv() }, tables.processes.element,
    h('div', {}, toolbar([stats.command], { csv: () => tables.threads.csv(), json: () => JSON.stringify(stats.data, null, 2) })), tables.threads.element);
}
