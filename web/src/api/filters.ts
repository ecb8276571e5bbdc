/* The filters of the page, and the commands that cannot apply one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import type { Query } from './client';
import type { State } from '../state/state';

export type Filter = 'device' | 'process';

/* A ledger explains all memory of a device. Runs have no process in common, ranks no device. */
const lacking: Record<Filter, readonly string[]> = {
  device: ['ranks'],
  process: ['compare', 'ledger', 'ranks'],
};

function isSupported(filter: Filter, verb: string): boolean {
  return !lacking[filter].includes(verb);
}

const filters: readonly Filter[] = ['device', 'process'];

export function filterOptions(verb: string, state: State): Query {
  return filters
    .filter((filter) => state[filter] !== '' && isSupported(filter, verb))
    .map((filter) => [filter, state[filter]] as const);
}

/* A sentence for each chosen filter that the command cannot apply. */
export function filtersIgnored(verb: string, state: State): string[] {
  return filters
    .filter((filter) => state[filter] !== '' && !isSupported(filter, verb))
    .map((filter) => `Not filtered by ${filter}: memledger ${verb} has no --${filter}.`);
}

/* Options without a value have an empty one. */
export function readOptions(state: State): Query {
  return state.salvage ? [['salvage', '']] : [];
}

/* For what describes the whole file, whatever the filters. */
export function unfiltered(state: State): State {
  return { ...state, device: '', process: '' };
}

export function fileQuery(verb: string, state: State, options: Query = []): Query {
  return [['file', String(state.file)], ...options, ...filterOptions(verb, state), ...readOptions(state)];
}
