// Runs commands as they are built and packed, one after the other, so that not each of them loads the client again. A message is { args, url }, the reply { code, out, err }.
import { on } from 'node:events'
import { escapeLines } from '../../dist/esm/print.js'
import { run } from '../../dist/esm/run.js'

for await (const [{ args, url }] of on(process, 'message')) {
  const said = { out: '', err: '' }
  const printTo = (stream) => (text) => void (said[stream] += `${escapeLines(text)}\n`)
  const terminal = { out: printTo('out'), err: printTo('err'), interrupted: () => new Promise(() => undefined) }
  const code = await run(args, { ...process.env, REDIS_URL: url }, terminal)
  process.send({ code, ...said })
}
