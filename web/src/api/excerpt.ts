/* The answers that an exported page contains: which of them answers a question, and what is missing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { parseTimeOption } from '../format/time';
import type { Query } from './answer';
import type { Plot, TraceFile } from './types';

export interface Contained {
  verb: string;
  options: Record<string, string>;
  command: string;
  block?: number; // its number in the page
  error?: string; // the command's own words, in place of an answer
}

export interface Excerpt {
  memledger: string; // its version
  file: TraceFile;
  instants: { at: string; at_ns: number }[];
  steps: number;
  steps_contained: number;
  refusals: number;
  refusals_contained: number;
  answers: Contained[];
  trees_folded: boolean; // small modules are left out
  left_out: string[];
}

const optionsOfRange = ['from', 'to', 'width', 'top'];
const optionsOfReading = ['file', 'salvage'];

function optionsOf(query: Query, ignored: readonly string[]): Record<string, string> {
  return Object.fromEntries(query.filter(([name]) => !ignored.includes(name)));
}

function isSame(a: Record<string, string>, b: Record<string, string>): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
}

/* A click chooses any time; the page has the nearest of its moments. */
export function nearestInstant(excerpt: Excerpt, at: string): string {
  const ns = parseTimeOption(at);
  const distance = (i: { at_ns: number }) => Math.abs(i.at_ns - (ns ?? 0));

  if (at === 'oom') return excerpt.instants.find((i) => i.at.startsWith('oom:'))?.at ?? at;
  if (ns === null) return at;
  return [...excerpt.instants].sort((a, b) => distance(a) - distance(b))[0]?.at ?? at;
}

export interface Span {
  from: number;
  to: number;
}

export function spanOf(options: Readonly<Record<string, string>>): Span {
  return { from: parseTimeOption(options.from ?? '') ?? 0, to: parseTimeOption(options.to ?? '') ?? Infinity };
}

/* The timeline, or the picture of blocks, that shows the range with the most columns. */
function findPicture(excerpt: Excerpt, picture: string, query: Query): Contained | undefined {
  const asked = optionsOf(query, [...optionsOfReading, ...optionsOfRange]);
  const range = spanOf(optionsOf(query, []));
  const covers = ({ options }: Contained) => spanOf(options).from <= range.from && spanOf(options).to >= range.to;
  const length = ({ options }: Contained) => spanOf(options).to - spanOf(options).from;

  return excerpt.answers
    .filter(({ verb, options }) => verb === picture && isSame(asked, optionsOf(Object.entries(options), optionsOfRange)))
    .filter(covers)
    .sort((a, b) => (length(a) < length(b) ? -1 : 1))[0];
}

/* The difference of two moments asks for all groups, which a table without a rest has. */
function findOther(excerpt: Excerpt, verb: string, query: Query): Contained | undefined {
  const asked = optionsOf(query, [...optionsOfReading, 'top']);
  if (asked.at !== undefined) asked.at = nearestInstant(excerpt, asked.at);

  return excerpt.answers.find(
    (answer) => answer.verb === verb && isSame(asked, optionsOf(Object.entries(answer.options), ['top'])),
  );
}

export function findAnswer(excerpt: Excerpt, verb: string, query: Query): Contained | undefined {
  const isPicture = verb === 'plot' || (verb === 'blocks' && query.some(([name]) => name === 'width'));
  return isPicture ? findPicture(excerpt, verb, query) : findOther(excerpt, verb, query);
}

/* Whether an answer with fewer groups than asked for has them all. */
export function hasAllGroups(query: Query, contained: Contained, data: unknown): boolean {
  const asked = Number(optionsOf(query, []).top ?? 0);
  const rest = (data as { rest?: { groups?: number } }).rest?.groups ?? 0;

  return asked <= Number(contained.options.top ?? asked) || rest === 0;
}

function highest(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, value), 0);
}

/* The peaks of a part, as the command prints them for --from and --to. */
function peaksOf(plot: Plot, first: number, end: number): Pick<Plot, 'peak_bytes' | 'bands'> {
  if (first === 0 && end === plot.times_ns.length) return { peak_bytes: plot.peak_bytes, bands: plot.bands };
  const parts = plot.bytes.map((band) => band.slice(first, end));
  const sums = (parts[0] ?? []).map((_, i) => parts.reduce((sum, band) => sum + (band[i] ?? 0), 0));

  return {
    peak_bytes: highest(sums),
    bands: plot.bands.map((band, i) => ({ ...band, peak_bytes: highest(parts[i] ?? []) })),
  };
}

/* The part of a timeline that was asked for, with a moment before and after it. */
export function cutPlot(plot: Plot, query: Query): Plot {
  const { from, to } = spanOf(optionsOf(query, []));
  const first = Math.max(plot.times_ns.findIndex((t) => t > from) - 1, 0);
  const after = plot.times_ns.findIndex((t) => t >= to);
  const end = after < 0 ? plot.times_ns.length : after;
  const last = after < 0 ? end : after + 1;

  return {
    ...plot,
    ...peaksOf(plot, first - (first % 2), end + (end % 2)), // a column has its lowest and its highest moment
    from_ns: Math.max(from, plot.from_ns),
    to_ns: Math.min(to, plot.to_ns),
    times_ns: plot.times_ns.slice(first, last),
    bytes: plot.bytes.map((band) => band.slice(first, last)),
  };
}

function counted(contained: number, all: number, noun: string): string {
  const number = contained === all ? String(all) : `${contained} of ${all}`;
  return `${number} ${noun}${all === 1 ? '' : 's'}`;
}

/* "peak, end, 24 of 1000 steps" */
function instantsText(excerpt: Excerpt): string {
  const parts = ['the peak', 'the end'];

  if (excerpt.steps > 0) parts.push(`the peaks of ${counted(excerpt.steps_contained, excerpt.steps, 'step')}`);
  if (excerpt.refusals > 0) parts.push(counted(excerpt.refusals_contained, excerpt.refusals, 'refused allocation'));
  return parts.join(', ');
}

export function excerptSentences(excerpt: Excerpt): string[] {
  const folded = 'Trees fold small modules: the command above each of them says up to which share of the total.';

  return [
    `This file is an excerpt of ${excerpt.file.name}. It contains the timeline in 4000 columns and these moments: ${instantsText(excerpt)}. ` +
      'A click in the timeline goes to the nearest of them.',
    'It leaves out all other moments, single events, groups after the thousandth, small blocks (Blocks says how many), the neighbours ' +
      'and stacks of single blocks, and most combinations of keys, devices and processes. ' +
      `memledger view ${excerpt.file.name} shows everything.`,
    ...(excerpt.trees_folded ? [folded] : []),
  ];
}

export function missingText(excerpt: Excerpt, verb: string): string {
  if (verb === 'compare') return 'This file contains one recording; memledger view compares several.';
  return `This file does not contain that answer; memledger view ${excerpt.file.name} has it.`;
}
