/* Times as the command line prints them, and as its options accept them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

const us = 1e3;
const ms = 1e6;
const second = 1e9;

function two(n: number): string {
  return String(n).padStart(2, '0');
}

function formatLong(ns: number): string {
  const seconds = Math.floor(ns / second + 0.5);
  const minutes = Math.floor(ns / (60 * second) + 0.5);

  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${two(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${two(minutes % 60)} min`;
}

function rounded(value: number, decimals: number): number {
  const power = 10 ** decimals;
  return Math.floor(value * power + 0.5) / power;
}

/* "12.3 ms", "41.15 s", "1 min 36 s" */
export function formatDuration(ns: number): string {
  if (ns < 0) return `-${formatDuration(-ns)}`;
  if (ns < 1000) return `${Math.round(ns)} ns`;
  if (rounded(ns / us, 1) < 1000) return `${rounded(ns / us, 1).toFixed(1)} us`;
  if (rounded(ns / ms, 1) < 1000) return `${rounded(ns / ms, 1).toFixed(1)} ms`;
  if (rounded(ns / second, 2) < 60) return `${rounded(ns / second, 2).toFixed(2)} s`;
  return formatLong(ns);
}

/* "1 min 36.36 s" */
function formatFine(ns: number, decimals: number): string {
  const power = 10 ** Math.min(decimals, 9);
  const tenths = Math.round((ns / second) * power); // or smaller parts of a second
  const minutes = Math.floor(tenths / power / 60);
  const rest = (tenths - minutes * 60 * power) / power;

  return `${minutes} min ${rest.toFixed(Math.min(decimals, 9)).padStart(decimals + 3, '0')} s`;
}

/* A time with enough digits to tell it from one `resolution` later: "96.36206 s". */
export function formatMoment(ns: number, resolutionNs: number): string {
  const [unit, name] = ns >= second ? [second, 's'] : ns >= ms ? [ms, 'ms'] : ns >= us ? [us, 'us'] : [1, 'ns'];
  const decimals = Math.ceil(Math.log10(unit / Math.max(resolutionNs, 1)) - 1e-9);
  const value = ns / unit;

  if (value >= 60 && unit === second && resolutionNs < second) return formatFine(ns, decimals);
  if (value >= 60 && unit === second) return formatLong(ns);
  return `${value.toFixed(Math.min(Math.max(decimals, 0), 9))} ${name}`;
}

/* For options such as --at and --from. */
export function timeOption(ns: number): string {
  return `${Math.max(0, Math.round(ns))}ns`;
}

/* "123ns" -> 123; null for "peak" and other names. */
export function parseTimeOption(text: string): number | null {
  const match = /^(\d{1,16})ns$/.exec(text);
  return match ? Number(match[1]) : null;
}

const units: Record<string, number> = { ns: 1, us, ms, s: second, min: 60 * second, h: 3600 * second };

/* "1.5s", "20 ms", "1 min 36.36 s" -> ns; null: no time */
export function parseTime(text: string): number | null {
  const parts = [...text.matchAll(/\s*(\d+(?:\.\d+)?)\s*(ns|us|ms|s|min|h)(?![a-z])/g)];

  if (parts.length === 0 || parts.map(([part]) => part).join('') !== text.trimEnd()) return null;
  const ns = parts.reduce((sum, [, number, unit]) => sum + Number(number) * (units[unit ?? ''] ?? 0), 0);
  return ns <= Number.MAX_SAFE_INTEGER ? Math.round(ns) : null;
}

/* "2026-11-16 14:27:09 UTC" */
export function formatDate(wallNs: number): string {
  return `${new Date(wallNs / 1e6).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
