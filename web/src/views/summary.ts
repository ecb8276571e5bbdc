/* A run on one page.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { ask } from '../api/client';
import { fileQuery } from '../api/filters';
import type { SampledDevice, Summary } from '../api/types';
import { bytesColumn, countColumn, numberColumn, percentColumn, textColumn, timeColumn } from '../dom/columns';
import { h } from '../dom/element';
import { nothing } from '../dom/notice';
import { DataTable } from '../dom/table';
import { formatBytes, formatCount, formatExact, formatPercent } from '../format/bytes';
import { formatDate, formatDuration } from '../format/time';
import type { Store } from '../state/store';
import { hasTimes } from '../instant/frame';
import { words } from '../theme/categories';
import { framed } from './frame';

function fact(name: string, value: string, detail: string, exact = ''): HTMLElement {
  return h('div', {}, h('dt', {}, name), h('dd', { title: exact || null }, h('strong', {}, value), ` ${detail}`));
}

/* A trace without times has only the order of its events. */
function moment(data: Summary, ns: number): string {
  return hasTimes(data.health) ? formatDuration(ns) : `event ${formatCount(ns)}`;
}

/* As the command counts them. */
function eventsFact(data: Summary): HTMLElement {
  const samples = data.samples?.events ?? 0;
  const beside = samples > 0 ? `and ${formatCount(samples)} ${samples === 1 ? 'sample' : 'samples'}, ` : '';

  return fact('events', formatCount(data.events - samples), `${beside}${formatBytes(data.file_bytes)} on disk`);
}

function facts(data: Summary): HTMLElement {
  return h(
    'dl',
    { class: 'facts' },
    fact('peak', formatBytes(data.peak_bytes), data.peak_bytes > 0 ? `at ${moment(data, data.peak_time_ns)}` : '', formatExact(data.peak_bytes)),
    fact('never freed', formatBytes(data.never_freed_bytes), `in ${formatCount(data.never_freed_blocks)} blocks`, formatExact(data.never_freed_bytes)),
    fact('allocations', formatCount(data.allocations), `${formatBytes(data.allocated_bytes)} in all; frees ${formatCount(data.frees)}`),
    eventsFact(data),
    hasTimes(data.health) ? fact('duration', formatDuration(data.duration_ns), '') : h('div'),
    data.named_percent_at_peak === null ? h('div') : fact('named', formatPercent(data.named_percent_at_peak), 'of the peak'),
  );
}

function categoriesTable(data: Summary, search: string) {
  return new DataTable<Summary['by_category'][number]>({
    caption: 'At the peak, by category',
    columns: [
      textColumn('category', (row) => words(row.category)),
      bytesColumn('at peak', (row) => row.at_peak_bytes),
      percentColumn('share', (row) => row.at_peak_percent),
      countColumn('blocks', (row) => row.at_peak_blocks),
      bytesColumn('own peak', (row) => row.peak_bytes),
      bytesColumn('never freed', (row) => row.never_freed_bytes),
    ],
    rows: data.by_category,
    search,
  });
}

function devicesTable(data: Summary) {
  return new DataTable<Summary['by_device'][number]>({
    caption: 'By device',
    columns: [
      textColumn('device', (row) => row.device),
      bytesColumn('peak', (row) => row.peak_bytes),
      { ...timeColumn<Summary['by_device'][number]>('at', (row) => row.peak_time_ns), text: (row) => moment(data, row.peak_time_ns) },
      bytesColumn('never freed', (row) => row.never_freed_bytes),
      countColumn('allocations', (row) => row.allocations),
      countColumn('frees', (row) => row.frees),
    ],
    rows: data.by_device,
  });
}

/* What the driver and the system said. */
function samplesTable(devices: SampledDevice[], data: Summary) {
  return new DataTable<SampledDevice>({
    caption: 'In use by all programs, sampled',
    columns: [
      textColumn('device', (row) => row.device),
      bytesColumn('at most', (row) => row.peak_used_bytes),
      { ...timeColumn<SampledDevice>('at', (row) => row.peak_time_ns), text: (row) => moment(data, row.peak_time_ns) },
      bytesColumn('of', (row) => row.total_bytes),
      ...(devices.some(({ name }) => name) ? [textColumn<SampledDevice>('name', (row) => row.name)] : []),
    ],
    rows: devices,
  });
}

function processesTable(data: Summary, search: string) {
  return new DataTable<Summary['processes'][number]>({
    caption: 'Processes',
    columns: [
      numberColumn('pid', (row) => row.pid),
      bytesColumn('peak', (row) => row.peak_bytes),
      { ...timeColumn<Summary['processes'][number]>('at', (row) => row.peak_time_ns), text: (row) => moment(data, row.peak_time_ns) },
      countColumn('threads', (row) => row.threads),
      textColumn('command', (row) => row.command),
    ],
    rows: data.processes,
    search,
  });
}

/* "python train.py, recorded 2026-11-16 14:27:09 UTC on workstation". An imported trace may have no command. */
function origin(data: Summary): string {
  const when = data.start_wall_ns > 0 ? `${data.command === null ? 'Recorded' : 'recorded'} ${formatDate(data.start_wall_ns)}` : null;
  const where = data.host === null ? '' : ` on ${data.host}`;
  return [data.command, when && when + where].filter((part) => part !== null).join(', ');
}

export async function summaryView(store: Store): Promise<HTMLElement> {
  const { state } = store;
  const answer = await ask<Summary>('summary', fileQuery('summary', state));
  const { data } = answer;
  const processes = data.processes.length > 0 ? [processesTable(data, state.search)] : [];
  const empty = data.allocations === 0;
  const sampled = data.samples?.devices.filter((device) => device.peak_used_bytes !== null) ?? [];
  const samples = sampled.length > 0 ? [samplesTable(sampled, data)] : [];
  const tables = [...(empty ? [] : [categoriesTable(data, state.search), devicesTable(data)]), ...samples, ...processes];

  return framed({ verb: 'summary', title: 'Summary', answer, state, csv: () => tables.map((t) => t.csv()).join('\n') },
    h('p', { class: 'quiet' }, origin(data)), facts(data), empty ? nothing('No allocation was recorded.') : null, ...tables.map((table) => table.element));
}
