// Three workers over one Redis get the same messages, and this program prints what became of them.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { Answer, Message } from './worker.ts'

const env = { REDIS_URL: 'redis://127.0.0.1:6379', ...process.env, NAMESPACE: `reports-${process.pid}-${Date.now()}` }

async function startWorker(): Promise<ChildProcess> {
  const worker = fork(new URL('worker.ts', import.meta.url), { env })
  await once(worker, 'message')
  return worker
}

async function ask(worker: ChildProcess, message: Message): Promise<Answer> {
  const answer = once(worker, 'message')
  worker.send(message)
  const [said] = (await answer) as [Answer]
  return said
}

/** Gives a message to each of the workers. Returns how many gave which answer. */
async function publish(day: string, workers: readonly ChildProcess[]): Promise<string> {
  const answers = await Promise.all(workers.map((worker) => ask(worker, { day, crash: false })))
  const built = answers.filter((answer) => answer === 'built').length
  const skipped = answers.filter((answer) => answer === 'was there').length
  return `${built} built it, ${skipped} skipped it`
}

const [first, second, third] = await Promise.all([startWorker(), startWorker(), startWorker()])
console.log('monday:', await publish('monday', [first, second, third]))

console.log('tuesday: the first worker is', await ask(first, { day: 'tuesday', crash: true }))
const [[, signal], others] = await Promise.all([once(first, 'exit'), publish('tuesday', [second, third])])
console.log(`tuesday: the first worker ended by ${String(signal)}; of the others ${others}`)
console.log('tuesday, once more:', await publish('tuesday', [second, third]))
for (const worker of [second, third]) worker.disconnect()
