/* The colours and hatches of memledger's plots (src/report/plot/canvas_inks.c, plot_frame.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */

export interface Ink {
  light: string;
  dark: string;
}

const ink = (light: string, dark: string): Ink => ({ light, dark });

export const inks = {
  paper: ink('#ffffff', '#14181d'),
  text: ink('#1d2329', '#e8ebee'),
  quiet: ink('#56606b', '#a4adb7'),
  grid: ink('#e6e9ed', '#2a3038'),
  axis: ink('#8b949e', '#6b7580'),
  red: ink('#d62728', '#e5484d'),
  shade: ink('#ced1d4', '#3e454d'),
  deepShade: ink('#979da3', '#666f78'),
};

/* By the number of a category, or of a band. */
const parts: readonly Ink[] = [
  ink('#ddd5c8', '#5e574c'),
  ink('#8ebbe8', '#2f629a'),
  ink('#b4c6cf', '#48606e'),
  ink('#f4a582', '#a04e2c'),
  ink('#bcaae0', '#61509c'),
  ink('#93d3a2', '#2f7546'),
  ink('#f4d675', '#8a6d1a'),
  ink('#86d5d3', '#1f7472'),
  ink('#f2a9c4', '#93406a'),
  ink('#d9c3a5', '#7a5f3c'),
  ink('#c6dd83', '#62772a'),
  ink('#e79c9c', '#8f3b3f'),
  ink('#9fa8e8', '#3f4a9a'),
];

export const partCount = parts.length;

export function partInk(part: number): Ink {
  return parts[part % partCount] as Ink;
}

export type HatchLine = readonly [number, number, number, number];

/* Of a tile of 8 by 8. Diagonals run past its corners, so that they join those of the next one. */
const rising: readonly HatchLine[] = [[-1, 1, 1, -1], [-1, 9, 9, -1], [7, 9, 9, 7]];
const falling: readonly HatchLine[] = [[7, -1, 9, 1], [-1, -1, 9, 9], [-1, 7, 1, 9]];
const level: readonly HatchLine[] = [[0, 4, 8, 4]];
const upright: readonly HatchLine[] = [[4, 0, 4, 8]];
const crossed: readonly HatchLine[] = [[0, 4, 8, 4], [4, 0, 4, 8]];
const dotted: readonly HatchLine[] = [[1.4, 2, 2.6, 2], [5.4, 6, 6.6, 6]];
const dense: readonly HatchLine[] = [[-1, 1, 1, -1], [-1, 5, 5, -1], [-1, 9, 9, -1], [3, 9, 9, 3], [7, 9, 9, 7]];

export const hatchTilePx = 8;
export const hatchOpacity = 0.32;

/* Neighbours in the usual order of the categories differ in ink and hatch. */
const partHatches: readonly (readonly HatchLine[])[] = [
  [], [], level, falling, dotted, [], rising, upright, dense, level, crossed, falling, rising,
];

export function partHatch(part: number): readonly HatchLine[] {
  return partHatches[part % partCount] as readonly HatchLine[];
}

/* Names on a hatch need a halo; on a plain ink it only blurs them. */
export function isHatched(part: number): boolean {
  return partHatch(part).length > 0;
}

const faintest = 0.06;

/* The opacity of a value between the lowest and the highest of all: differences of a few percent are visible.
 * Zero is none. */
export function shadeOf(value: number, least: number, most: number): number {
  if (value === 0) return 0;
  return most > least ? faintest + ((1 - faintest) * (value - least)) / (most - least) : 0.5;
}
