/* Tables as comma-separated values, with the quoting of `memledger table --safe-csv`: a spreadsheet
 * does not run a name from a trace as a formula.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

function quoted(text: string): string {
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function cell(value: string | number | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  return quoted(/^[=+\-@\t\r]/.test(value) ? `'${value}` : value);
}

export function toCsv(titles: readonly string[], rows: readonly (readonly (string | number | null)[])[]): string {
  return [titles, ...rows].map((row) => row.map(cell).join(',')).join('\n') + '\n';
}
