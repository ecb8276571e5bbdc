/* Columns of tables: numbers are shown as the command line prints them, and copied exactly.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { formatBytes, formatChange, formatCount, formatExact, formatPercent, formatPercentChange } from '../format/bytes';
import { formatDuration } from '../format/time';

export type Value = string | number | null;

export interface Column<Row> {
  title: string;
  hint?: string; // the long form of the title
  numeric: boolean;
  value: (row: Row) => Value; // to sort by and to copy
  text: (row: Row) => string;
  exact?: (row: Row) => string; // on hover
  isSize?: boolean; // bytes, which a search for a size compares
}

type Get<Row> = (row: Row) => number | null;

function numeric<Row>(title: string, value: Get<Row>, format: (n: number) => string): Column<Row> {
  const text = (row: Row) => {
    const n = value(row);
    return n === null ? '' : format(n);
  };
  return { title, numeric: true, value, text };
}

function exactOr(value: number | null, format: (n: number) => string): string {
  return value === null ? 'unknown' : format(value);
}

function withExact<Row>(column: Column<Row>, get: Get<Row>): Column<Row> {
  return { ...column, exact: (row) => exactOr(get(row), formatExact) };
}

export function bytesColumn<Row>(title: string, get: Get<Row>): Column<Row> {
  return { ...withExact(numeric(title, get, formatBytes), get), isSize: true };
}

/* Empty for nothing: most categories of most modules are. */
export function partColumn<Row>(title: string, hint: string, get: Get<Row>): Column<Row> {
  return { ...withExact(numeric(title, get, (n) => (n === 0 ? '' : formatBytes(n))), get), hint };
}

export function changeColumn<Row>(title: string, get: Get<Row>): Column<Row> {
  return withExact(numeric(title, get, formatChange), get);
}

export function countColumn<Row>(title: string, get: Get<Row>): Column<Row> {
  return numeric(title, get, formatCount);
}

/* A name that is a number: of a process, a step, a rank. */
export function numberColumn<Row>(title: string, get: Get<Row>): Column<Row> {
  return numeric(title, get, String);
}

export function percentColumn<Row>(title: string, get: Get<Row>): Column<Row> {
  return numeric(title, get, formatPercent);
}

export function percentChangeColumn<Row>(title: string, get: Get<Row>): Column<Row> {
  return numeric(title, get, formatPercentChange);
}

export function timeColumn<Row>(title: string, get: Get<Row>): Column<Row> {
  return { ...numeric(title, get, formatDuration), exact: (row) => exactOr(get(row), (ns) => `${formatCount(ns)} ns`) };
}

export function textColumn<Row>(title: string, get: (row: Row) => string | null, absent = ''): Column<Row> {
  return { title, numeric: false, value: get, text: (row) => get(row) ?? absent };
}
