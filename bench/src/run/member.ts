import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { cpuOf } from './machine.ts'
import { profiled } from './profile.ts'

const START_AT_MOST = 60_000

/** A process of its own, which does what it is asked. */
export interface Member {
  readonly pid: number
  ask<T>(what: string, ...args: readonly unknown[]): Promise<T>
  /** What it has used so far, ms. */
  cpu(): number
  signal(name: NodeJS.Signals): void
  stop(): Promise<void>
}

interface Reply {
  readonly id: number
  readonly result?: unknown
  readonly error?: string
}

/** What a member can be asked for. */
export type Skills = Readonly<Record<string, (...args: never[]) => unknown>>

/** Starts a file of this folder, named as the compiler leaves it, by the program `node`. Its own code calls `serveAsMember`. */
export async function startMember(
  file: string,
  args: readonly string[] = [],
  flags: readonly string[] = [],
  node: string = process.execPath,
): Promise<Member> {
  const child = fork(fileURLToPath(new URL(`../${file}`, import.meta.url)), args, {
    execPath: node,
    execArgv: [...flags],
    // As servers run: Express, for one, prints every error otherwise.
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>()
  let asked = 0
  child.on('message', ({ id, result, error }: Reply) => {
    const asker = waiting.get(id)
    waiting.delete(id)
    if (error === undefined) asker?.resolve(result)
    else asker?.reject(new Error(`${file} ${args.join(' ')}: ${error}`))
  })
  const exited = new Promise<void>((resolve) => void child.once('exit', () => resolve()))
  void exited.then(() => {
    for (const asker of waiting.values()) asker.reject(new Error(`${file} ${args.join(' ')} ended`))
  })
  const ask = <T>(what: string, ...rest: readonly unknown[]): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      asked += 1
      waiting.set(asked, { resolve, reject })
      child.send({ id: asked, what, args: rest })
    })
  await started(child, () => ask('ready'))
  return {
    pid: child.pid ?? 0,
    ask,
    cpu: () => cpuOf(child.pid ?? 0) ?? Number.NaN,
    signal: (name) => void child.kill(name),
    stop: async () => {
      if (child.connected) child.disconnect()
      await exited
    },
  }
}

async function started(child: ChildProcess, ready: () => Promise<unknown>): Promise<void> {
  const late = setTimeout(() => child.kill('SIGKILL'), START_AT_MOST)
  await ready().finally(() => clearTimeout(late))
}

/** Makes this process a member; it ends with the one that started it. Whatever it can do, it can do under a profiler. */
export function serveAsMember(skills: Skills): void {
  const perform = async (what: string, args: readonly unknown[]): Promise<unknown> => {
    if (what === 'ready') return true
    if (what === 'profile') return await profiled(() => perform(String(args[0]), args.slice(1)))
    const skill = skills[what]
    if (skill === undefined) throw new Error(`cannot ${what}`)
    return await skill(...(args as never[]))
  }
  process.on('message', ({ id, what, args }: { id: number; what: string; args: readonly unknown[] }) => {
    perform(what, args).then(
      (result) => process.send?.({ id, result }),
      (error: unknown) => process.send?.({ id, error: error instanceof Error ? error.stack : String(error) }),
    )
  })
  process.on('disconnect', () => process.exit())
}
