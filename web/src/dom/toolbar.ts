/* Beside each view: the commands that print its numbers, and buttons that copy or save them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { button, h } from './element';

export interface Copies {
  csv?: () => string;
  json?: () => string;
  saves?: readonly HTMLElement[]; // buttons that save the picture
}

async function copy(text: string, source: HTMLButtonElement): Promise<void> {
  const before = source.dataset.text ?? source.textContent ?? '';

  source.dataset.text = before;
  source.textContent = await navigator.clipboard.writeText(text).then(
    () => 'Copied',
    () => 'The browser refused',
  );
  setTimeout(() => (source.textContent = before), 1500);
}

function copyButton(label: string, hint: string, text: () => string): HTMLButtonElement {
  const element = button(label, () => void copy(text(), element), { title: hint });
  return element;
}

function commandLine(command: string): HTMLElement {
  return h(
    'span',
    { class: 'command' },
    h('code', { title: command }, command),
    copyButton('Copy', 'Copy this command', () => command),
  );
}

export function toolbar(commands: readonly string[], copies: Copies): HTMLElement {
  const buttons = h('span', { class: 'copies' });

  if (copies.csv) buttons.append(copyButton('Copy CSV', 'Copy the rows as comma-separated values', copies.csv));
  if (copies.json) buttons.append(copyButton('Copy JSON', 'Copy what the command prints with --json', copies.json));
  buttons.append(...(copies.saves ?? []));
  const lines = commands.filter((line) => line !== '').map(commandLine);
  return h('div', { class: 'toolbar' }, h('div', { class: 'commands' }, ...lines), buttons);
}
