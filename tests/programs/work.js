// work.js: prints the same lines each time; see node.py.
'use strict';
const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');
const { execFileSync } = require('child_process');
const crypto = require('crypto');
const zlib = require('zlib');

function digest(rounds) {
  let text = '';
  for (let i = 0; i < rounds; i++)
    text = crypto.createHash('sha256').update(text + i).digest('hex');
  return text;
}

function churn() {
  const kept = new Map();
  for (let i = 0; i < 300000; i++)
    kept.set('key' + (i % 5000), { i, text: 'x'.repeat(i % 200) });
  return kept.size;
}

async function main() {
  const workers = [1, 2, 3, 4].map((n) => new Promise((resolve, reject) => {
    const worker = new Worker(__filename, { workerData: n });
    worker.once('message', resolve);
    worker.once('error', reject);
  }));
  console.log('workers', await Promise.all(workers));
  console.log('kept', churn());
  const text = Buffer.from('memory '.repeat(100000));
  console.log('packed', zlib.gunzipSync(zlib.gzipSync(text)).equals(text));
  console.log('child', execFileSync(process.execPath, ['-p', '6 * 7']).toString().trim());
  process.exitCode = 3;
}

if (isMainThread)
  main();
else
  parentPort.postMessage(digest(2000 * workerData));
