/* vite.config.ts: How the page is built and tested.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { defineConfig } from 'vitest/config';
import { commandApi } from './dev/command-api';

export default defineConfig({
  base: './',
  plugins: [commandApi()],
  build: {
    target: 'es2022',
    // The server's content security policy allows no inline data.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  test: { include: ['tests/unit/**/*.test.ts'] },
});
