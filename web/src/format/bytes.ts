/* Sizes as the command line prints them: the same units, decimals and rounding.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

interface Unit {
  name: string;
  bytes: number;
  decimals: number;
}

const units: readonly Unit[] = [
  { name: 'B', bytes: 1, decimals: 0 },
  { name: 'KiB', bytes: 2 ** 10, decimals: 1 },
  { name: 'MiB', bytes: 2 ** 20, decimals: 1 },
  { name: 'GiB', bytes: 2 ** 30, decimals: 2 },
  { name: 'TiB', bytes: 2 ** 40, decimals: 2 },
  { name: 'PiB', bytes: 2 ** 50, decimals: 2 },
];

/* Growth per step may have parts of a byte: these are rounded first, as by the command line. */
function wholeBytes(bytes: number): number {
  return Math.sign(bytes) * Math.floor(Math.abs(bytes) + 0.5);
}

/* Rounds halves up, unlike toFixed. */
function inUnit(bytes: number, unit: Unit): number {
  const power = 10 ** unit.decimals;
  return Math.floor((bytes / unit.bytes) * power + 0.5) / power;
}

/* The unit that shows at least 1 and, after rounding, less than 1024. */
function bestUnit(bytes: number): Unit {
  const fitting = units.find((unit) => inUnit(bytes, unit) < 1024);
  return fitting ?? (units[units.length - 1] as Unit);
}

/* "58.3 MiB"; a number that rounds to 0 has no sign. */
export function formatBytes(bytes: number): string {
  const size = Math.abs(wholeBytes(bytes));
  const unit = bestUnit(size);
  const shown = inUnit(size, unit);
  const sign = bytes < 0 && shown > 0 ? '-' : '';
  return `${sign}${shown.toFixed(unit.decimals)} ${unit.name}`;
}

/* "+47.0 MiB"; no change is an empty text, as in `memledger compare`. */
export function formatChange(bytes: number): string {
  if (bytes === 0) return '';
  return bytes > 0 ? `+${formatBytes(bytes)}` : formatBytes(bytes);
}

/* "7,678" */
export function formatCount(count: number): string {
  return String(Math.trunc(count)).replace(/\B(?=(\d{3})+$)/g, ',');
}

/* "61,163,076 bytes", to show on hover */
export function formatExact(bytes: number): string {
  const whole = wholeBytes(bytes);
  return `${formatCount(whole)} byte${Math.abs(whole) === 1 ? '' : 's'}`;
}

/* "75.5 %" */
export function formatPercent(percent: number): string {
  return `${percent.toFixed(1)} %`;
}

/* "+80.7 %", or nothing without a change */
export function formatPercentChange(percent: number | null): string {
  if (percent === null || percent === 0) return '';
  return `${percent > 0 ? '+' : ''}${formatPercent(percent)}`;
}
