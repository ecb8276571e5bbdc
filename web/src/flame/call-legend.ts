/* What the colour of a call means.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { h } from '../dom/element';
import type { CallOrder } from '../state/state';
import { swatch } from '../theme/patterns';
import { requestPart } from './calls';

export function callLegend(order: CallOrder = 'callees'): HTMLElement {
  const text = order === 'callees' ? 'requests most of its memory itself' : 'requests memory; below it are its callers';
  return h('div', { class: 'legend-line' }, h('span', {}, swatch(requestPart), text));
}
