#!/usr/bin/env node
import type { Terminal } from './command.ts'
import { escapeLines } from './print.ts'
import { reportError, run } from './run.ts'

const terminal: Terminal = {
  out: (text) => void process.stdout.write(`${escapeLines(text)}\n`),
  err: (text) => void process.stderr.write(`${escapeLines(text)}\n`),
  interrupted: () =>
    new Promise((resolve) => {
      process.once('SIGINT', resolve)
      process.once('SIGTERM', resolve)
    }),
}

/** Exits once stdout and stderr are written, even if sockets are still open. */
function exitAfterOutput(exitCode: number): void {
  process.stdout.write('', () => process.stderr.write('', () => process.exit(exitCode)))
}

function exitWithError(error: unknown): void {
  exitAfterOutput(reportError(error, terminal))
}

// The reader of the output has closed the pipe, as `| head` does.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
}
// The client may throw outside any promise when a server sends invalid data: report that without a
// stack, too.
process.on('uncaughtException', exitWithError)
run(process.argv.slice(2), process.env, terminal).then(exitAfterOutput, exitWithError)
