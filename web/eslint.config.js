/* eslint.config.js: The rules of the code.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import tseslint from 'typescript-eslint';

const markup = 'Names from a trace must never become markup: use textContent.';
const unsafe = ['innerHTML', 'outerHTML', 'insertAdjacentHTML', 'setHTMLUnsafe', 'srcdoc'];

export default tseslint.config(
  { ignores: ['dist/', 'node_modules/'] },
  ...tseslint.configs.strict,
  {
    rules: {
      'no-eval': 'error',
      'no-implied-eval': 'error',
      'no-restricted-properties': [
        'error',
        ...unsafe.map((property) => ({ property, message: markup })),
        { object: 'document', property: 'write', message: markup },
        { object: 'document', property: 'writeln', message: markup },
      ],
      'no-restricted-globals': ['error', { name: 'DOMParser', message: markup }],
      'no-restricted-syntax': [
        'error',
        {
          selector: "CallExpression[callee.property.name='setAttribute'][arguments.0.value='style']",
          message: 'The content security policy forbids style attributes: use a class.',
        },
      ],
    },
  },
);
