// Runs one of the commands of a script of package.json: npm run bench -- hit --smoke. Without its name, or with an unknown one, it lists them.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { delimiter, join, resolve } from 'node:path'
import { commands } from './commands.mjs'

const root = resolve(import.meta.dirname, '..')
const [script, ...words] = process.argv.slice(2)
const offered = commands[script]
if (offered === undefined) throw new Error(`no script called ${script}; there are ${Object.keys(commands).join(', ')}`)

const isNamed = words.length > 0 && !words[0].startsWith('-')
const name = isNamed ? words[0] : ''
const command = Object.hasOwn(offered, name) ? offered[name] : undefined
process.exitCode = command === undefined ? list() : await run(command, isNamed ? words.slice(1) : words)

function list() {
  if (name !== '') console.error(`There is no \`npm run ${script} -- ${name}\`. There is:\n`)
  const called = (one) => `npm run ${script}${one === '' ? '' : ` -- ${one}`}`
  const width = Math.max(...Object.keys(offered).map((one) => called(one).length))
  for (const [one, { says }] of Object.entries(offered)) console.error(`  ${called(one).padEnd(width)}  ${says}`)
  return 1
}

/** The exit code of the first command that fails, else 0. */
async function run({ first, line, env }, given) {
  const path = `${join(root, 'node_modules/.bin')}${delimiter}${process.env.PATH}`
  const options = { cwd: root, stdio: 'inherit', env: { ...process.env, ...env, PATH: path } }
  // Ctrl-C reaches the command itself, which may have something to close.
  process.on('SIGINT', () => undefined)
  for (const [program, ...args] of [...first, line(given)]) {
    const child = spawn(program, args, options)
    const stop = () => child.kill()
    process.once('SIGTERM', stop)
    const [code] = await once(child, 'close')
    process.off('SIGTERM', stop)
    if (code !== 0) return code ?? 1
  }
  return 0
}
