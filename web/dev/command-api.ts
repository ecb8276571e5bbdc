/* For development: answers /api/* as `memledger view` does, by running the command.
 *
 * MEMLEDGER is the command, MEMLEDGER_FILES the traces, separated by colons.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { basename } from 'node:path';
import type { Plugin } from 'vite';

const command = process.env.MEMLEDGER ?? '../build/src/cli/memledger';
const files = (process.env.MEMLEDGER_FILES ?? '').split(':').filter((path) => path !== '');
const verbs = new Set([
  'blocks', 'compare', 'events', 'fragmentation', 'layers', 'leaks', 'ledger', 'oom', 'plot', 'stats', 'steps',
  'summary', 'table', 'tree',
]);
const outputMaxBytes = 256 * 1024 * 1024;

function send(response: ServerResponse, status: number, body: string): void {
  response.statusCode = status;
  response.setHeader('Content-Type', 'application/json');
  response.end(body);
}

function listFiles(): string {
  const list = files.map((path, id) => ({ id, name: basename(path), path, bytes: statSync(path).size }));
  return JSON.stringify({ files: list });
}

function stateOf(id: string | null): string {
  const { size, mtimeMs, ino } = statSync(files[Number(id)] ?? '');
  return JSON.stringify({ bytes: size, modified_ns: Math.round(mtimeMs * 1e6), inode: ino, recording: false });
}

function commandLine(verb: string, query: URLSearchParams): string[] {
  const given = [...query].filter(([name]) => name !== 'file');
  const options = given.map(([name, value]) => (value === '' ? `--${name}` : `--${name}=${value}`));
  const chosen = query.getAll('file').map((id) => files[Number(id)] ?? id);
  return [verb, ...options, ...chosen];
}

function run(verb: string, query: URLSearchParams, response: ServerResponse): void {
  const shown = commandLine(verb, query);
  const [, ...rest] = shown;

  execFile(command, [verb, '--json', ...rest], { maxBuffer: outputMaxBytes }, (error, stdout, stderr) => {
    const names = shown.map((word) => (files.includes(word) ? basename(word) : word));
    const line = Buffer.from(`memledger ${names.join(' ')}`, 'utf8').toString('latin1');
    response.setHeader('X-Memledger-Command', line);
    if (stdout !== '') send(response, 200, stdout);
    else send(response, 422, JSON.stringify({ error: stderr.trim() || error?.message }));
  });
}

function answer(request: IncomingMessage, response: ServerResponse, next: () => void): void {
  const url = new URL(request.url ?? '/', 'http://localhost');
  const verb = url.pathname.replace('/api/', '');

  if (!url.pathname.startsWith('/api/')) next();
  else if (verb === 'files') send(response, 200, listFiles());
  else if (verb === 'state') send(response, 200, stateOf(url.searchParams.get('file')));
  else if (verbs.has(verb)) run(verb, url.searchParams, response);
  else send(response, 404, JSON.stringify({ error: `there is no view '${verb}'` }));
}

export function commandApi(): Plugin {
  return {
    name: 'memledger-command-api',
    configureServer(server) {
      server.middlewares.use(answer);
    },
  };
}
