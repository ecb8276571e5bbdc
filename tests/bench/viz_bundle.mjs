/* viz_bundle.mjs: makes PyTorch's MemoryViz.js, which loads d3 from the network, one script.
 *
 *     node viz_bundle.mjs FOLDER OUTPUT.js      FOLDER has MemoryViz.js; its node_modules has d3
 *
 * PAGE is the folder with the packages of the page, of which esbuild is one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';

const { build } = createRequire(`${process.env.PAGE}/package.json`)('esbuild');
const [folder, outfile] = process.argv.slice(2);

/* "https://cdn.jsdelivr.net/npm/d3-axis@3/+esm" is the package d3-axis. */
const packages = {
  name: 'packages',
  setup(made) {
    made.onResolve({ filter: /^https:/ }, ({ path }) => made.resolve(path.replace(/^.*\/(d3[a-z-]*)@.*$/, '$1'), { resolveDir: folder, kind: 'import-statement' }));
  },
};

await build({ entryPoints: [join(folder, 'MemoryViz.js')], bundle: true, format: 'esm', outfile, plugins: [packages], logLevel: 'error' });
