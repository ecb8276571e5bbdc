/* state.test.ts: The address of the page, and the requests of the server.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { expect, test } from 'vitest';
import { filterOptions, filtersIgnored } from '../../src/api/filters';
import { apiPath, headerText } from '../../src/api/client';
import { formatState, initialState, isInstant, parseMoment, parseState, type State } from '../../src/state/state';

test('the initial state makes an empty address', () => {
  expect(formatState(initialState)).toBe('');
  expect(parseState('')).toEqual(initialState);
});

test('an address leads back to its state', () => {
  const state: State = {
    view: 'compare', file: 2, other: 0, each: 'step', salvage: true, by: 'module', depth: 3, from: 10, to: 20, at: 'step:3:end', base: '5ns', panel: 'icicle',
    keys: ['line', 'module'], layout: 'address', block: '0x7f00@12ns@4000', sum: 'leaked', calls: 'callers', device: 'cuda:0', process: '4000', search: 'a & b=c #1 <img>',
  };
  expect(parseState(`#${formatState(state)}`)).toEqual(state);
});

test('nonsense in an address is ignored', () => {
  expect(parseState('#view=x&file=-1&from=9&to=3&at=$(rm)&keys=evil,&panel=&by=1&depth=0&layout=round&block=0x@1@2&sum=all')).toEqual(initialState);
});

test.each(['peak', 'end', 'oom', 'oom:2', 'step:3', 'step:3:end', '12ns'])('%s is an instant', (text) =>
  expect(isInstant(text)).toBe(true));
test.each(['', 'peak ', '--help', '12', 'step:', '1e3ns'])('"%s" is none', (text) => expect(isInstant(text)).toBe(false));

test('filters go to the commands that have an option for them', () => {
  const state = { ...initialState, device: 'cuda:0', process: '7' };

  expect(filterOptions('plot', state)).toEqual([['device', 'cuda:0'], ['process', '7']]);
  expect(filterOptions('tree', state)).toEqual([['device', 'cuda:0'], ['process', '7']]);
  expect(filterOptions('leaks', state)).toEqual([['device', 'cuda:0'], ['process', '7']]);
  for (const verb of ['steps', 'summary', 'stats', 'events', 'oom', 'fragmentation', 'blocks']) expect(filtersIgnored(verb, state)).toEqual([]);
  expect(filtersIgnored('ledger', state)).toEqual(['Not filtered by process: memledger ledger has no --process.']);
  expect(filtersIgnored('tree', initialState)).toEqual([]);
});

test('values of a query are quoted', () => {
  expect(apiPath('table', [['file', '0'], ['by', 'a&b=c d']])).toBe('api/table?file=0&by=a%26b%3Dc%20d');
  expect(apiPath('files', [])).toBe('api/files');
});

test('the command of a header is UTF-8', () => expect(headerText('tr\u00c3\u00a4in')).toBe('träin'));

test.each([['peak', 'peak'], [' Step 3 ', 'step:3'], ['step3:end', 'step:3:end'], ['oom 2', 'oom:2'], ['1.5s', '1500000000ns'], ['20 ms', '20000000ns']])(
  'a person may write %s', (text, moment) => expect(parseMoment(text)).toBe(moment));
test.each(['', 'step', '1.5', '-1s', '5 apples', '3s later', '--help'])('"%s" is no moment', (text) => expect(parseMoment(text)).toBe(null));
