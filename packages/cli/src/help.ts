import type { Command } from './command.ts'
import { OPERANDS } from './operands.ts'
import { table } from './print.ts'

const options = table([
  [
    '  --url <url>',
    'the server: redis://user:password@host:6379/0, or rediss:// with TLS',
    '(default: REDIS_URL, else redis://127.0.0.1:6379)',
  ],
  [
    '  --page <url>',
    'inspect, explain, delete, expire: in place of keys, a page such as https://shop.example/products/7;',
    'finds its responses by the tag of their URL; --url does the same with such a URL',
  ],
  ['  --namespace <text>', 'the namespace of the caches (default: cattlegrid)'],
  ['  --timeout <duration>', 'how long to wait for the server, such as 500ms or 30s (default: 5s)'],
  ['  --json', 'print results as JSON, one document per line'],
  ['  --by <weight>', 'top: sorts by load-time or by followers (default: load-time)'],
  ['  --for <duration>', 'pause: how long, such as 15m or 6h (default: 1h)'],
  ['  --trace <file>', 'explain: writes the events to a file for ui.perfetto.dev'],
  ['  --help, -h', 'this text; after a command, help for that command'],
  ['  --version', 'the version of this package'],
])

/** The help for all commands, or for one. */
export function helpText(commands: readonly Command[], command: Command | undefined): string {
  if (command !== undefined) {
    return `Usage: cattlegrid ${signature(command)} [options]\n\n${sentence(command.summary)}
${command.details}\n\nOptions\n${options}`
  }
  const list = table(commands.map((one) => [`  ${signature(one)}`, one.summary]))
  return `Usage: cattlegrid <command> [options]

Inspects, explains and invalidates the entries of caches that share a Redis or Valkey.

Commands
${list}

Options
${options}

Exit codes: 0 done, 1 the server cannot be reached or refused, 2 the command line is invalid.`
}

function signature({ name, operands }: Command): string {
  return name + OPERANDS[operands].synopsis
}

function sentence(summary: string): string {
  return `${summary.slice(0, 1).toUpperCase()}${summary.slice(1)}.`
}
