/* Light or dark: as the system prefers, or as chosen on the page and remembered by the browser.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import type { Ink } from './inks';

export type Choice = 'system' | 'light' | 'dark';

const key = 'memledger-theme';
const system = window.matchMedia('(prefers-color-scheme: dark)');
const listeners: (() => void)[] = [];
let chosen = remembered();

/* Browsers may forbid storage. */
function remembered(): Choice {
  try {
    const text = localStorage.getItem(key);
    return text === 'light' || text === 'dark' ? text : 'system';
  } catch {
    return 'system';
  }
}

function remember(choice: Choice): void {
  try {
    localStorage.setItem(key, choice);
  } catch {
    // The choice holds until the page is closed.
  }
}

function apply(): void {
  document.documentElement.dataset.theme = isDark() ? 'dark' : 'light';
  for (const listener of listeners) listener();
}

export function isDark(): boolean {
  return chosen === 'dark' || (chosen === 'system' && system.matches);
}

export function themeChoice(): Choice {
  return chosen;
}

export function chooseTheme(choice: Choice): void {
  chosen = choice;
  remember(choice);
  apply();
}

/* Drawings call `listener` to draw again in other colours. */
export function onThemeChange(listener: () => void): void {
  listeners.push(listener);
}

export function colour(ink: Ink): string {
  return isDark() ? ink.dark : ink.light;
}

export function startTheme(): void {
  system.addEventListener('change', apply);
  apply();
}
