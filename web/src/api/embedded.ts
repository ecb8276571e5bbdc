/* The answers of an exported page, which are blocks of its own text: gzip in base64.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { ApiError, type Answer, type Query } from './answer';
import { cutTile } from './cut-tile';
import { cutPlot, findAnswer, hasAllGroups, missingText, spanOf, type Excerpt } from './excerpt';
import type { Plot, Tile } from './types';

const unprocessable = 422;
const notFound = 404;

async function unpack(text: string): Promise<unknown> {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));

  return new Response(stream).json();
}

function blockText(id: string | number): string | null {
  return document.getElementById(`memledger-${id}`)?.textContent ?? null;
}

async function readExcerpt(): Promise<Excerpt | null> {
  const text = blockText('index');
  return text === null ? null : ((await unpack(text)) as Excerpt);
}

let read: Promise<Excerpt | null> | null = null;

/* null: the page comes from the server */
export function excerptOfPage(): Promise<Excerpt | null> {
  read ??= readExcerpt();
  return read;
}

/* Pictures contain more than the part that is visible. */
function cutAnswer(verb: string, query: Query, data: unknown): unknown {
  const { from, to } = spanOf(Object.fromEntries(query));

  if (verb === 'plot') return cutPlot(data as Plot, query);
  return verb === 'blocks' ? cutTile(data as Tile, from, to) : data;
}

export async function embeddedAnswer(from: Excerpt, verb: string, query: Query): Promise<Answer<unknown>> {
  const missing = new ApiError(missingText(from, verb), notFound);

  if (verb === 'files') return { data: { files: [from.file] }, command: '' };
  const contained = findAnswer(from, verb, query);
  if (contained?.error !== undefined) throw new ApiError(contained.error, unprocessable, contained.command);
  const text = contained?.block === undefined ? null : blockText(contained.block);
  if (!contained || text === null) throw missing;

  const data = await unpack(text);
  if (verb !== 'blocks' && !hasAllGroups(query, contained, data)) throw missing;
  return { data: cutAnswer(verb, query, data), command: contained.command };
}
