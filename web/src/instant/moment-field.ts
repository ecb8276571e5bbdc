/* A field for a moment, for those who know its name or time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { h } from '../dom/element';
import { formatMoment, parseTimeOption } from '../format/time';
import { parseMoment } from '../state/state';
import type { Store } from '../state/store';

const digitsNs = 1000; // finer ones say little
const named = ['peak', 'end', 'oom', 'step:0', 'step:0:end'];
const refusal = 'Write peak, end, oom, oom:2, step:3, step:3:end or a time such as 1.5s.';

function shownText(moment: string): string {
  const ns = parseTimeOption(moment);
  return ns === null ? moment : formatMoment(ns, digitsNs);
}

function choices(id: string): HTMLElement {
  return h('datalist', { id }, ...named.map((value) => h('option', { value })));
}

/* @key  `at`, or `base`, which may be empty: no comparison */
export function momentField(store: Store, key: 'at' | 'base', label: string): HTMLElement {
  const list = `moments-${key}`;
  const input = h('input', {
    type: 'text', name: key, list, size: 12, spellcheck: 'false', autocomplete: 'off', value: shownText(store.state[key]),
    placeholder: key === 'base' ? 'none' : 'peak', title: refusal,
  });

  input.addEventListener('change', () => {
    const moment = input.value.trim() === '' ? (key === 'base' ? '' : 'peak') : parseMoment(input.value);

    input.setCustomValidity(moment === null ? refusal : '');
    if (moment === null) return void input.reportValidity();
    if (key === 'at') store.update({ at: moment });
    else store.update({ base: moment, ...(moment === '' ? {} : { panel: 'difference' as const }) });
  });
  input.addEventListener('input', () => input.setCustomValidity(''));
  store.onChange((state) => {
    if (document.activeElement !== input) input.value = shownText(state[key]);
  });
  return h('label', { class: 'field' }, h('span', {}, label), input, choices(list));
}
