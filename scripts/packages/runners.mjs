// How the apps of a project are run: by a script, or as the tests of a runner.

/** The lines that import the apps. */
const imports = (names) => names.map((name) => `import { check as ${name} } from './${name}.js'\n`).join('')

const main = (names) =>
  `${imports(names)}
async function main() {
${names.map((name) => `  await ${name}()\n`).join('')}  console.log('all used')
}
main().catch((error) => {
  console.error(error)
  process.exit(1)
})
`
/** `limits` are the further arguments of a test, for one that takes longer on a busy machine than the runner allows. */
const tests = (ofRunner, limits) => (names) =>
  `${ofRunner}${imports(names)}
${names.map((name) => `test('${name}', ${name}${limits})\n`).join('')}`

/** `source` is the file that uses the apps of a row, `program` what the runtime runs; `passed` is in its output only if it has. */
export const runners = {
  script: { file: 'main.ts', source: main, program: ['main.js'], passed: /^all used$/m },
  'node:test': {
    file: 'apps.test.ts',
    source: tests("import { test } from 'node:test'\n", ''),
    program: ['--test'],
    passed: /\bpass [1-9]/,
  },
  jest: {
    file: 'apps.test.ts',
    source: tests('', ', 60_000'),
    program: ['node_modules/jest/bin/jest.js', '--ci'],
    passed: /\b[1-9]\d* passed/,
    packages: { jest: '30.5.2' },
  },
  vitest: {
    file: 'apps.test.ts',
    source: tests("import { test } from 'vitest'\n", ', 60_000'),
    program: ['node_modules/vitest/vitest.mjs', 'run'],
    passed: /\b[1-9]\d* passed/,
    packages: { vitest: '4.1.12' },
  },
}
