/* The events of the trace from the chosen moment on, one row each.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import type { Answer } from '../api/client';
import type { EventRow, Events } from '../api/types';
import { bytesColumn, numberColumn, textColumn, type Column } from '../dom/columns';
import { h } from '../dom/element';
import { nothing } from '../dom/notice';
import { frameText } from '../dom/stack-text';
import { DataTable } from '../dom/table';
import { formatCount } from '../format/bytes';
import { formatMoment } from '../format/time';
import { panel } from './frame';

function momentColumn(hasTimes: boolean): Column<EventRow> {
  const text = (ns: number) => (hasTimes ? formatMoment(ns, 1) : formatCount(ns));
  return { title: hasTimes ? 'time' : 'event', numeric: true, value: (row) => row.time_ns, text: (row) => text(row.time_ns), exact: (row) => `${formatCount(row.time_ns)} ns` };
}

/* Where it happened: the innermost frame, or else the scope. */
function placeOf(row: EventRow): string | null {
  const [frame] = row.stack ?? [];
  return frame ? frameText(frame) : null;
}

/* A sample is of all programs, or of one process. */
function nameOf(row: EventRow): string | null {
  if (row.process_bytes !== undefined) return row.of_pid === undefined ? 'other processes' : `of process ${row.of_pid}`;
  if (row.used_bytes !== undefined) return 'in use';
  return row.label ?? row.name ?? row.scope ?? null;
}

function columnsOf(hasTimes: boolean): Column<EventRow>[] {
  return [
    momentColumn(hasTimes),
    textColumn('event', (row) => row.kind),
    bytesColumn('bytes', (row) => row.bytes ?? row.used_bytes ?? row.process_bytes ?? null),
    textColumn('address', (row) => row.address ?? null),
    textColumn('device', (row) => row.device ?? row.sampled_device ?? null),
    textColumn('name', nameOf),
    textColumn('at', placeOf),
    numberColumn('pid', (row) => row.pid ?? null),
    numberColumn('tid', (row) => row.tid ?? null),
  ];
}

export function eventsPanel(answer: Answer<Events>, search: string, hasTimes: boolean): HTMLElement {
  const { events } = answer.data;

  if (events.length === 0) return panel([answer], {}, nothing('No event comes after this moment.'));
  const columns = columnsOf(hasTimes).filter((column) => events.some((row) => column.value(row) !== null));
  const table = new DataTable<EventRow>({ caption: `The next ${formatCount(events.length)} events`, columns, rows: events, search });
  return panel([answer], { csv: () => table.csv() }, h('div', { class: 'events' }, table.element));
}
