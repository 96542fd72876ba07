#!/usr/bin/env node
import type { Terminal } from './command.ts'
import { visible } from './print.ts'
import { complain, run } from './run.ts'

/** What messages say comes from Redis and from the command line: line by line, nothing of it is obeyed by a terminal. */
function safe(text: string): string {
  return text.split('\n').map(visible).join('\n')
}

const terminal: Terminal = {
  out: (text) => void process.stdout.write(`${safe(text)}\n`),
  err: (text) => void process.stderr.write(`${safe(text)}\n`),
  interrupted: () =>
    new Promise((resolve) => {
      process.once('SIGINT', resolve)
      process.once('SIGTERM', resolve)
    }),
}

/** Ends the process once everything it said is written, whatever sockets are still open. */
function end(exitCode: number): void {
  process.stdout.write('', () => process.stderr.write('', () => process.exit(exitCode)))
}

function give(error: unknown): void {
  end(complain(error, terminal))
}

// Whoever read the results wants no more of them (`| head`).
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
}
// What a client throws where nobody can catch it, because of what some server sent: told without a stack too.
process.on('uncaughtException', give)
run(process.argv.slice(2), process.env, terminal).then(end, give)
