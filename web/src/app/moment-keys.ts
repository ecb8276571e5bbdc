/* The keys p, e, o, n and N in the views below the timeline: they choose the moment that the view shows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { ask } from '../api/client';
import { fileQuery, unfiltered } from '../api/filters';
import type { Instant, Steps } from '../api/types';
import type { View } from '../state/state';
import type { Store } from '../state/store';
import { actionOf, isMomentAction, neighbourStep, type Action } from '../timeline/keys';

const views: readonly View[] = ['blocks', 'stacks', 'compare']; // the timeline has its own keys

/* The step after the chosen moment, or before it. */
async function neighbour(store: Store, forward: boolean): Promise<string | null> {
  const { state } = store;
  const [steps, tree] = await Promise.all([
    ask<Steps>('steps', fileQuery('steps', unfiltered(state))),
    ask<Instant>('tree', fileQuery('tree', state, [['at', state.at], ['min', '0']])),
  ]);
  const number = neighbourStep(steps.data.steps, tree.data.at_ns, forward);
  return number === null ? null : `step:${number}`;
}

async function instantOf(store: Store, action: Action): Promise<string | null> {
  if (action === 'next-step' || action === 'previous-step') return neighbour(store, action === 'next-step').catch(() => null);
  return action;
}

function isFree(): boolean {
  const { activeElement } = document;
  return activeElement === document.body || activeElement?.id === 'main' || activeElement instanceof HTMLCanvasElement;
}

export function listenForMoments(store: Store): void {
  document.addEventListener('keydown', (event) => {
    const action = actionOf(event);

    if (!views.includes(store.state.view) || !isFree() || !isMomentAction(action)) return;
    event.preventDefault();
    void instantOf(store, action).then((at) => at !== null && store.update({ at }));
  });
}
