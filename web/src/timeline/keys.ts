/* The keyboard of the timeline.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

export type Action =
  | 'earlier' | 'later' | 'pan-left' | 'pan-right' | 'zoom-in' | 'zoom-out' | 'fit' | 'everything'
  | 'peak' | 'end' | 'oom' | 'next-step' | 'previous-step' | 'set-base' | 'name-moment';

interface Binding {
  keys: readonly string[]; // as in KeyboardEvent.key
  action: Action;
  help: string;
}

export const bindings: readonly Binding[] = [
  { keys: ['ArrowLeft'], action: 'earlier', help: 'choose an earlier moment' },
  { keys: ['ArrowRight'], action: 'later', help: 'choose a later moment' },
  { keys: ['ArrowUp', '+', '='], action: 'zoom-in', help: 'zoom in' },
  { keys: ['ArrowDown', '-'], action: 'zoom-out', help: 'zoom out' },
  { keys: ['PageUp'], action: 'pan-left', help: 'move to the left' },
  { keys: ['PageDown'], action: 'pan-right', help: 'move to the right' },
  { keys: ['0'], action: 'fit', help: 'fit to the steps' },
  { keys: ['a'], action: 'everything', help: 'show the whole run' },
  { keys: ['p'], action: 'peak', help: 'go to the peak' },
  { keys: ['e'], action: 'end', help: 'go to the end' },
  { keys: ['o'], action: 'oom', help: 'go to the refused allocation' },
  { keys: ['n'], action: 'next-step', help: 'go to the peak of the next step' },
  { keys: ['N'], action: 'previous-step', help: 'go to the peak of the previous step' },
  { keys: ['g'], action: 'name-moment', help: 'type a moment: step:12, 1.5s' },
  { keys: ['b'], action: 'set-base', help: 'compare with this moment from now on' },
];

/* Keys with Ctrl, Alt or Meta belong to the browser. */
export function actionOf(event: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'altKey' | 'metaKey'>): Action | null {
  if (event.ctrlKey || event.altKey || event.metaKey) return null;
  return bindings.find((binding) => binding.keys.includes(event.key))?.action ?? null;
}

/* Keys that choose a moment; they work in all views that show one. */
const momentActions: readonly Action[] = ['peak', 'end', 'oom', 'next-step', 'previous-step'];

export function isMomentAction(action: Action | null): action is Action {
  return action !== null && momentActions.includes(action);
}

interface Peak {
  step: number;
  peak_time_ns: number;
}

/* The step whose peak comes after the moment (or before it), for --at step:N. */
export function neighbourStep(steps: readonly Peak[], momentNs: number, forward: boolean): number | null {
  const ahead = steps.filter((s) => (forward ? s.peak_time_ns > momentNs : s.peak_time_ns < momentNs));
  return (forward ? ahead[0] : ahead[ahead.length - 1])?.step ?? null;
}
