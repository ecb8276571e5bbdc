/* The list of keys.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { h } from '../dom/element';
import { bindings } from './keys';

const symbols: Record<string, string> = { ArrowLeft: '←', ArrowRight: '→', ArrowUp: '↑', ArrowDown: '↓' };

export function keysHelp(): HTMLElement {
  const list = h('dl');

  for (const { keys, help } of bindings) {
    const names = keys.map((key) => h('kbd', {}, symbols[key] ?? key));
    list.append(h('dt', {}, ...names), h('dd', {}, help));
  }
  list.append(h('dt', {}, 'drag'), h('dd', {}, 'zoom in'), h('dt', {}, 'wheel'), h('dd', {}, 'zoom; sideways: move'));
  list.append(h('dt', {}, 'click'), h('dd', {}, 'choose a moment'), h('dt', {}, 'Shift-click'), h('dd', {}, 'compare with this moment'));
  return h('details', { class: 'keys-help' }, h('summary', {}, 'Keys'), list);
}
