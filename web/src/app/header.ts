/* Above all views: the file, the filters, the search, light and dark.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import type { Summary, TraceFile } from '../api/types';
import { h, select, type Choice } from '../dom/element';
import { withoutFolders } from '../format/commands';
import type { Store } from '../state/store';
import { chooseTheme, themeChoice, type Choice as Theme } from '../theme/theme';

const searchDelayMs = 200;

function searchField(store: Store): HTMLElement {
  const input = h('input', { type: 'search', name: 'search', placeholder: 'name, file:line, >1MiB', value: store.state.search, spellcheck: 'false' });
  let timer = 0;

  input.addEventListener('input', () => {
    clearTimeout(timer);
    timer = window.setTimeout(() => store.adjust({ search: input.value }), searchDelayMs);
  });
  store.onChange((state) => {
    if (document.activeElement !== input) input.value = state.search;
  });
  return h('label', { class: 'field search' }, h('span', {}, 'Search'), input);
}

function filter(store: Store, name: 'device' | 'process', label: string, values: readonly Choice[]): HTMLElement | null {
  if (values.length < 2) return null;
  const choices = [{ value: '', text: 'all' }, ...values];
  return select(label, choices, store.state[name], (value) => store.update({ [name]: value, from: null, to: null }));
}

function themeSwitch(): HTMLElement {
  const choices: readonly { value: Theme; text: string }[] = [
    { value: 'system', text: 'as the system' },
    { value: 'light', text: 'light' },
    { value: 'dark', text: 'dark' },
  ];
  return select('Theme', choices, themeChoice(), (value) => chooseTheme(value as Theme));
}

/* @summary  null: the trace cannot be read */
export function header(store: Store, files: readonly TraceFile[], summary: Summary | null): HTMLElement[] {
  const traces = files.filter((file) => !file.listed || file.id === store.state.file).map((file) => ({ value: String(file.id), text: file.name }));
  const devices = (summary?.by_device ?? []).map(({ device }) => ({ value: device, text: device }));
  // A process that replaced its program has one number and several commands.
  const commands = new Map((summary?.processes ?? []).map(({ pid, role, command }) => [String(pid), role ? `${role}: ${command}` : command]));
  const processes = [...commands].map(([pid, command]) => ({ value: pid, text: `${pid} ${withoutFolders(command)}` }));
  const choose = (id: string) =>
    store.update({ file: Number(id), from: null, to: null, at: 'peak', base: '', device: '', process: '', salvage: false });
  const parts = [
    h('span', { class: 'brand' }, 'memledger'),
    select('Trace', traces, String(store.state.file), choose),
    filter(store, 'device', 'Device', devices),
    filter(store, 'process', 'Process', processes),
    searchField(store),
    themeSwitch(),
  ];
  return parts.filter((part) => part !== null);
}
