/* timeline.test.ts: The parts of the timeline that need no screen.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { describe, expect, test } from 'vitest';
import type { Plot } from '../../src/api/types';
import { bandsCsv } from '../../src/timeline/bands-csv';
import { actionOf, neighbourStep } from '../../src/timeline/keys';
import { labelStride } from '../../src/format/marks';
import { phaseSpans } from '../../src/timeline/phases';
import { commonPath } from '../../src/timeline/band-names';
import { clampRange, fitToSteps, pan, reveal, zoom } from '../../src/timeline/range';
import { resample } from '../../src/timeline/lines';
import { bytesAt, stackBands } from '../../src/timeline/stack';

const bounds = { from: 0, to: 1000 };

function plotOf(by: string, names: (string | null)[], bytes: number[][]): Plot {
  return {
    device: null, by, has_times: true, end_ns: 10, from_ns: 0, to_ns: 10, peak_bytes: 0, peak_time_ns: 0,
    bands: names.map((name, i) => ({ name, rest: false, peak_bytes: Math.max(...(bytes[i] ?? [])) })),
    times_ns: [0, 5], bytes, samples: [], marks: [], marks_left_out: 0,
  };
}

describe('bands', () => {
  const plot = plotOf('category', ['other', 'parameter', 'buffer'], [[1, 2], [10, 20], [0, 0]]);

  test('are stacked in the order of reports, without empty ones', () => {
    const layers = stackBands(plot);

    expect(layers.map((layer) => layer.name)).toEqual(['parameter', 'other']);
    expect(layers[1]?.tops).toEqual([11, 22]);
    expect(bytesAt(layers, 1, 1)).toBe(2);
  });

  test('without a module are on top', () => {
    const layers = stackBands(plotOf('module', [null, 'Net'], [[1, 1], [2, 2]]));
    expect(layers.map((layer) => [layer.band, layer.name])).toEqual([[1, 'Net'], [0, 'no module']]);
  });

  test('of a process without a command say that it is one', () => {
    const layers = stackBands(plotOf('process', ['0 ', '6118 python3 train.py'], [[1, 1], [2, 2]]));
    expect(layers.map(({ name }) => name)).toEqual(['process 0', '6118 python3 train.py']);
  });

  test('are copied with exact numbers', () => {
    expect(bandsCsv(plot, stackBands(plot))).toBe('time_ns,parameter,other\n0,10,1\n5,20,2\n');
  });
});

describe('the visible range', () => {
  test('zooms around a moment that keeps its place', () =>
    expect(zoom({ from: 0, to: 400 }, 0.5, 100, bounds)).toEqual({ from: 50, to: 250 }));
  test('stays inside the run', () => {
    expect(zoom({ from: 0, to: 400 }, 10, 100, bounds)).toEqual(bounds);
    expect(pan({ from: 700, to: 900 }, 1, bounds)).toEqual({ from: 800, to: 1000 });
    expect(clampRange({ from: -50, to: 50 }, bounds)).toEqual({ from: 0, to: 100 });
  });
  test('is never empty', () => expect(zoom({ from: 0, to: 20 }, 1e-9, 5, bounds).to).toBeGreaterThan(0));
  test('follows a moment that leaves it', () => {
    expect(reveal({ from: 0, to: 100 }, 50, bounds)).toEqual({ from: 0, to: 100 });
    expect(reveal({ from: 0, to: 100 }, 500, bounds)).toEqual({ from: 450, to: 550 });
  });
  test('fits the steps, or the run without steps', () => {
    expect(fitToSteps([{ begin_ns: 400, end_ns: 500 }, { begin_ns: 500, end_ns: 600 }], bounds)).toEqual({ from: 396, to: 604 });
    expect(fitToSteps([], bounds)).toEqual(bounds);
    expect(fitToSteps([{ begin_ns: 400, end_ns: 510, paused_ns: 100 }, { begin_ns: 510, end_ns: 900 }], bounds)).toEqual({ from: 398, to: 528 }); // nor a pause
    expect(fitToSteps([{ begin_ns: 400, end_ns: 410 }, { begin_ns: 410, end_ns: 900 }], bounds)).toEqual({ from: 400, to: 426 }); // not the time until the process ends
  });
});

test('a sample holds until the next', () =>
  expect(resample([0, 5, 10, 15], { times_ns: [5, 12], bytes: [7, 9] })).toEqual([null, 7, 7, 9]));

test('phases end with the next, or with a mark without a name', () => {
  const marks = [
    { kind: 'phase' as const, time_ns: 1, name: 'forward' },
    { kind: 'step' as const, time_ns: 2, number: 1 },
    { kind: 'phase' as const, time_ns: 3, name: '' },
    { kind: 'phase' as const, time_ns: 5, name: 'optimizer' },
  ];
  expect(phaseSpans(marks, 9)).toEqual([{ name: 'forward', from: 1, to: 3 }, { name: 'optimizer', from: 5, to: 9 }]);
});

test('labels of steps do not overlap', () => expect([50, 20, 5, 0.1].map((px) => labelStride(px, 40))).toEqual([1, 2, 10, 500]));

test('keys of the browser stay its own', () => {
  const key = { key: 'p', ctrlKey: false, altKey: false, metaKey: false };
  expect(actionOf(key)).toBe('peak');
  expect(actionOf({ ...key, ctrlKey: true })).toBeNull();
  expect(actionOf({ ...key, key: 'x' })).toBeNull();
});

test('n and N go to the peaks of the neighbouring steps', () => {
  const steps = [10, 20, 30].map((peak_time_ns, step) => ({ step, peak_time_ns }));
  expect(neighbourStep(steps, 20, true)).toBe(2);
  expect(neighbourStep(steps, 20, false)).toBe(0);
  expect(neighbourStep(steps, 30, true)).toBeNull();
});

test('names of modules share a path that the legend leaves out', () => {
  expect(commonPath(['GPT > blocks.0', 'GPT > head', 'GPT', 'no module'])).toBe('GPT > ');
  expect(commonPath(['A > b > c', 'A > b > d', 'A > b'])).toBe('A > ');
  expect(commonPath(['A > b', 'C > d'])).toBe('');
  expect(commonPath(['A > b', 'parameter'])).toBe('');
});
