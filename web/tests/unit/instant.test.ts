/* instant.test.ts: The parts of an instant that need no screen.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { describe, expect, test } from 'vitest';
import type { Calls, ComparedInstants, Group, LedgerDevice, Table, Tree, TreeRow } from '../../src/api/types';
import { comparedChanges, difference } from '../../src/instant/difference';
import { cellAt, cellBeside, flameCells, pathTo } from '../../src/flame/cells';
import { icicleRoot, linesByPlace } from '../../src/instant/icicle';
import { moduleTree, openAtFirst, searchModules, visibleRows, wholeTree, type ModuleNode } from '../../src/instant/modules';
import { ledgerLines } from '../../src/instant/ledger-panel';
import { instantName } from '../../src/instant/frame';
import { callTree } from '../../src/instant/call-tree';
import { flameCsv } from '../../src/flame/flame-csv';
import { toggleKey } from '../../src/instant/table-panel';

function row(depth: number, module: string | null, bytes: number, own: Record<string, number> = {}): TreeRow {
  return {
    depth, module, name: module, class: null, modules: module === null ? 0 : 1, hidden_modules: 0, bytes, percent: 0, blocks: 1,
    own_bytes: 0, by_category: {}, own_by_category: own,
  };
}

const rows = [
  row(1, 'net', 90),
  row(2, 'net.a', 60, { activation: 20, parameter: 40 }),
  row(3, 'net.a.x', 0),
  row(2, 'net.b', 30, { parameter: 30 }),
  row(1, null, 10, { other: 10 }),
];

describe('modules', () => {
  const roots = moduleTree(rows);

  test('become a tree', () => {
    expect(roots.map((node) => node.name)).toEqual(['net', '(no module)']);
    expect(roots[0]?.children.map((node) => node.name)).toEqual(['net.a', 'net.b']);
    expect(roots[0]?.children[0]?.children[0]?.parent?.name).toBe('net.a');
  });

  test('that a search finds are shown with those around them', () => {
    const found = searchModules(roots, 'NET.B');
    expect(found.map((node) => [node.name, node.children.map((child) => child.name)])).toEqual([['net', ['net.b']]]);
    expect(searchModules(roots, 'nowhere')).toEqual([]);
  });

  test('open while they fit on a screen', () => {
    expect([...openAtFirst(roots, 1)]).toEqual(['net']);
    expect([...openAtFirst(roots, 4)]).toEqual(['net']);
    expect([...openAtFirst(roots, 100)]).toEqual(['net', 'net.a']);
    expect(visibleRows(roots, new Set(['net'])).map((r) => [r.node.name, r.level])).toEqual([
      ['net', 1], ['net.a', 2], ['net.b', 2], ['(no module)', 1],
    ]);
  });
});

describe('the icicle', () => {
  const root = icicleRoot({ bytes: 100 }, moduleTree(rows));
  const cells = flameCells([root], 0.01);
  const at = (x: number, level: number) => cells[cellAt(cells, x, level)]?.node.detail;

  test('puts submodules and own categories below their module', () => {
    expect(at(0.1, 1)).toBe('net');
    expect(at(0.7, 2)).toBe('net.b');
    expect(at(0.1, 3)).toBe('net.a, parameter');
    expect(at(0.5, 3)).toBe('net.a, activation');
    expect(at(0.95, 2)).toBe('(no module), other');
    expect(at(0.95, 3)).toBeUndefined();
  });

  test('leaves out what is too narrow', () =>
    expect(flameCells([root], 0.35).map((cell) => cell.node.name)).toEqual(['all', 'net', 'net.a', 'parameter']));

  test('makes a cell as wide as the picture, below those that contain it', () => {
    const zoomed = flameCells(pathTo(cells, cellAt(cells, 0.7, 2)), 0.01);
    expect(zoomed.map((cell) => [cell.node.detail, cell.level, cell.width])).toEqual([
      ['all', 0, 1], ['net', 1, 1], ['net.b', 2, 1], ...zoomed.slice(3).map((cell) => [cell.node.detail, cell.level, cell.width]),
    ]);
    expect(zoomed.slice(3).every((cell) => cell.node.detail.startsWith('net.b, '))).toBe(true);
  });

  test('is walked with arrow keys', () => {
    const path = ['ArrowDown', 'ArrowDown', 'ArrowRight', 'ArrowUp', 'ArrowUp', 'ArrowUp', 'ArrowLeft'];
    const visited: (string | undefined)[] = [];
    path.reduce((index, key) => {
      const next = cellBeside(cells, index, key);
      visited.push(cells[next]?.node.detail);
      return next;
    }, 0);
    expect(visited).toEqual(['net', 'net.a', 'net.b', 'net', 'all', 'all', 'all']);
  });
});

function table(groups: Group[]): Table {
  return { by: ['module', 'category'], groups } as unknown as Table;
}

test('a difference has what came, went and changed, the largest first', () => {
  const group = (module: string | null, bytes: number): Group => ({ module, category: 'c', bytes, percent: 0, blocks: 1 });
  const changes = difference(
    table([group('same', 5), group('gone', 7), group(null, 1)]),
    table([group('same', 5), group('new', 9), group(null, 3)]),
  );
  expect(changes.map(({ names, before, after, change }) => [names.module, before, after, change])).toEqual([
    ['new', 0, 9, 9], ['gone', 7, 0, -7], [null, 1, 3, 2],
  ]);
});

test('a ledger ends with what is unexplained, even if that is nothing', () => {
  const device = { entries: [{ name: 'blocks', bytes: 5, entries: [{ name: 'slack', bytes: 2, entries: [] }] }], unexplained_bytes: 0 };
  expect(ledgerLines(device as unknown as LedgerDevice)).toEqual([
    { name: 'blocks', level: 0, bytes: 5 }, { name: 'slack', level: 1, bytes: 2 }, { name: 'unexplained', level: 0, bytes: 0 },
  ]);
});

test('without a sample of the driver, what is unexplained is unknown', () => {
  const device = { entries: [], used_bytes: null, unexplained_bytes: null };
  expect(ledgerLines(device as unknown as LedgerDevice)).toEqual([{ name: 'unexplained', level: 0, bytes: null }]);
});

test('keys are added at the end, and one always remains', () => {
  expect(toggleKey(['module'], 'line')).toEqual(['module', 'line']);
  expect(toggleKey(['module', 'line'], 'module')).toEqual(['line']);
  expect(toggleKey(['line'], 'line')).toEqual(['line']);
});

test('the tree begins with a row of totals', () => {
  const whole = wholeTree({ bytes: 100, blocks: 3, by_category: { other: 10 }, rows } as unknown as Tree);
  expect(visibleRows([whole], new Set(['', 'net'])).map((r) => r.node.name)).toEqual(['all', 'net', 'net.a', 'net.b', '(no module)']);
  expect(whole.children[0]?.parent).toBe(whole);
});

test('a comparison of two instants has what changed', () => {
  const value = (bytes: number | null) => ({ name: '', status: '', bytes, bytes_difference: null, bytes_percent: null });
  const entries = [{ module: 'a', runs: [value(5), value(9)] }, { module: 'b', runs: [value(3), value(3)] }, { module: null, runs: [value(2), value(null)] }];
  const data = { view: { each: 'entry', by: ['module'], entries, rest: null } } as unknown as ComparedInstants;

  expect(comparedChanges(data)).toEqual([
    { names: { module: 'a' }, before: 5, after: 9, change: 4 }, { names: { module: null }, before: 2, after: 0, change: -2 },
  ]);
});

test('calls have the shape of a tree of modules', () => {
  const row = (depth: number, name: string, figure: number, own: number) => ({ depth, function: name, file: 'a.c', line: depth, library: null, functions: 1, figure, own });
  const calls = { total: { peak_bytes: 8, peak_blocks: 2 }, rows: [row(1, 'main', 8, 0), row(2, 'f', 6, 6), row(2, 'g', 2, 2)] } as unknown as Calls;
  const { bytes, rows } = callTree(calls);

  expect(bytes).toBe(8);
  expect(rows.map((r) => [r.module, r.bytes, r.own_bytes, r.percent])).toEqual([
    ['main (a.c:1)', 8, 0, 100], ['main (a.c:1) > f (a.c:2)', 6, 6, 75], ['main (a.c:1) > g (a.c:2)', 2, 2, 25],
  ]);
});

test('categories of the icicle contain the lines that allocated them', () => {
  const row = { module: 'net', name: 'net', bytes: 7, own_by_category: { activation: 7 } };
  const node = { row, name: 'net', path: 'net', parent: null, children: [] } as unknown as ModuleNode;
  const lines = linesByPlace([
    { module: 'net', category: 'activation', line: 'lib/a.py:3 f', bytes: 4, percent: 0, blocks: 1 },
    { module: 'net', category: 'activation', line: null, bytes: 3, percent: 0, blocks: 1 },
  ]);
  const root = icicleRoot({ bytes: 7 }, [node], lines);

  expect(flameCsv(root).split('\n').slice(0, 5)).toEqual([
    'level,path,bytes', '0,all,7', '1,net,7', '2,"net, activation",7', '3,"net, activation, lib/a.py:3 f",4',
  ]);
});

test('a moment has its number', () => {
  expect([instantName('step', 'step:3:end'), instantName('oom', 'oom'), instantName('peak', 'peak'), instantName('time', '5ns')]).toEqual([' (step 3 end)', ' (oom)', ' (peak)', '']);
});
