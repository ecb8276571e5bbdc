/* The categories: the order of reports, and the number that selects ink and hatch in plots.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

export interface Category {
  name: string;
  title: string; // of a narrow column
  number: number;
}

export const categories: readonly Category[] = [
  { name: 'parameter', title: 'param', number: 1 },
  { name: 'gathered', title: 'gathered', number: 11 },
  { name: 'buffer', title: 'buffer', number: 2 },
  { name: 'kv_cache', title: 'kv', number: 10 },
  { name: 'gradient', title: 'grad', number: 3 },
  { name: 'communication', title: 'comm', number: 12 },
  { name: 'optimizer_state', title: 'optim', number: 4 },
  { name: 'activation', title: 'activ', number: 5 },
  { name: 'intermediate_gradient', title: 'int.grad', number: 6 },
  { name: 'temporary', title: 'temp', number: 8 },
  { name: 'workspace', title: 'workspc', number: 9 },
  { name: 'input', title: 'input', number: 7 },
  { name: 'other', title: 'other', number: 0 },
];

const numbers = new Map(categories.map((category) => [category.name, category.number]));

/* Of an unknown category: that of "other". */
export function categoryNumber(name: string): number {
  return numbers.get(name) ?? 0;
}

/* "optimizer_state" -> "optimizer state" */
export function words(name: string): string {
  return name.replaceAll('_', ' ');
}
