/* Asks the server for the output of a command, or an exported page itself. Answers are kept, since a
 * trace does not change.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { ApiError, type Answer, type Query } from './answer';
import { embeddedAnswer, excerptOfPage } from './embedded';

export { ApiError, type Answer, type Query };

const keptMax = 60;
const kept = new Map<string, Promise<Answer<unknown>>>();

export function apiPath(verb: string, query: Query): string {
  const parts = query.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
  return parts.length === 0 ? `api/${verb}` : `api/${verb}?${parts.join('&')}`;
}

/* fetch() reads the bytes of a header as Latin-1; file names are UTF-8. */
export function headerText(value: string): string {
  const bytes = Uint8Array.from(value, (c) => c.charCodeAt(0));
  return new TextDecoder().decode(bytes);
}

function commandOf(response: Response): string {
  return headerText(response.headers.get('X-Memledger-Command') ?? '');
}

async function errorOf(response: Response): Promise<ApiError> {
  const body = (await response.json().catch(() => null)) as { error?: unknown } | null;
  const text = typeof body?.error === 'string' ? body.error : `the server answered ${response.status}`;
  return new ApiError(text.replace(/^memledger: /, ''), response.status, commandOf(response));
}

async function load(verb: string, query: Query): Promise<Answer<unknown>> {
  const embedded = await excerptOfPage();
  return embedded ? embeddedAnswer(embedded, verb, query) : loadFromServer(apiPath(verb, query));
}

async function respond(path: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(path, { credentials: 'same-origin', ...init }).catch(() => {
    throw new ApiError('memledger view does not answer: start it again and open the address that it prints', 0);
  });

  if (!response.ok) throw await errorOf(response);
  return response;
}

async function loadFromServer(path: string): Promise<Answer<unknown>> {
  const response = await respond(path);
  return { data: await response.json(), command: commandOf(response) };
}

function forgetOldest(): void {
  const oldest = kept.keys().next();
  if (kept.size > keptMax && !oldest.done) kept.delete(oldest.value);
}

/* The result has the type that the caller knows the command to print. */
export function ask<T>(verb: string, query: Query = []): Promise<Answer<T>> {
  const path = apiPath(verb, query);
  let answer = kept.get(path);

  if (!answer) {
    answer = load(verb, query);
    kept.set(path, answer);
    answer.catch(() => kept.delete(path));
    forgetOldest();
  }
  return answer as Promise<Answer<T>>;
}

/* Asks the server itself, not a command; such answers change and are not kept. */
export async function askServer<T>(verb: string, query: Query, init: RequestInit = {}): Promise<T> {
  return (await (await respond(apiPath(verb, query), init)).json()) as T;
}

/* After a change of a trace. */
export function forgetAnswers(): void {
  kept.clear();
}
