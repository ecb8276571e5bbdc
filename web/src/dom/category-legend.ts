/* The categories of a picture in a line, with their inks and hatches.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { h } from './element';
import { categories, words } from '../theme/categories';
import { swatch } from '../theme/patterns';

/* @shown  numbers of categories */
export function categoryLegend(shown: ReadonlySet<number>): HTMLElement[] {
  return categories.filter(({ number }) => shown.has(number)).map(({ name, number }) => h('span', {}, swatch(number), words(name)));
}
