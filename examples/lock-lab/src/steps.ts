import { isDeepStrictEqual } from 'node:util'
import { Caller, type Clock, type Program } from './caller.ts'
import type { CallerName, Connections, Fault } from './servers.ts'

/** An event that no caller's command causes. */
export type LabEvent =
  | Fault
  | 'time passes'
  | 'half the time passes'
  | 'B has a clock that is ahead'
  | 'B runs in the process of A'
  | 'the source changes'

/** One line of an interleaving, as it was observed. */
export interface Step {
  readonly who: CallerName | LabEvent
  /** The command that was sent. */
  readonly text?: string | undefined
  readonly reply?: unknown
  /** The caller's conclusion from the reply. */
  note?: string | undefined
}

/** Without a reply, any reply will do: it is a time. */
export type ExpectedStep = readonly [who: CallerName | LabEvent, text?: string, reply?: unknown]

/** An interleaving with the replies and the end that it must have. */
export interface ExpectedRun {
  readonly id: string
  readonly why: string
  readonly steps: readonly ExpectedStep[]
}

/** Compares the first step that differs, and the end. */
export function differences({ id, ...expected }: ExpectedRun, steps: readonly Step[], why: string): string[] {
  const found: string[] = []
  const length = Math.max(expected.steps.length, steps.length)
  const first = Array.from({ length }, (_, place) => place).find(
    (place) => !agrees(expected.steps[place], steps[place]),
  )
  if (first !== undefined) {
    const [wanted, seen] = [expected.steps[first], steps[first]].map((step) => JSON.stringify(step) ?? 'nothing')
    found.push(`${id}: step ${first + 1} should be ${wanted}, and was ${seen}`)
  }
  if (why !== expected.why) found.push(`${id}: should end with "${expected.why}", and ended with "${why}"`)
  return found
}

function agrees(expected: ExpectedStep | undefined, step: Step | undefined): boolean {
  if (expected === undefined || step === undefined) return false
  const [who, text, ...reply] = expected
  return who === step.who && text === step.text && (reply.length === 0 || isDeepStrictEqual(reply[0], step.reply))
}

interface RunningProgram {
  readonly program: Program<unknown>
  readonly onResult: (result: unknown) => string | undefined
  lastStep: Step | undefined
  /** The reply to the last command: the program receives it when it continues. */
  reply: unknown
}

/** The three callers, the program that each is running, and the steps of all of them. */
export class Callers {
  readonly clock: Clock = { seconds: 0 }
  readonly steps: Step[] = []
  readonly #callers: Record<CallerName, Caller>
  readonly #running = new Map<CallerName, RunningProgram>()

  constructor(connections: Connections, namespace: string) {
    const caller = (name: CallerName): Caller => new Caller(name, connections, namespace, this.clock)
    this.#callers = { A: caller('A'), B: caller('B'), C: caller('C') }
  }

  get(name: CallerName): Caller {
    return this.#callers[name]
  }

  /** Gives the caller a program, and sends nothing yet. `onResult` may return a note for the last step. */
  start<Result>(name: CallerName, program: Program<Result>, onResult: (result: Result) => string | undefined): void {
    const running = { program, onResult: (result: unknown) => onResult(result as Result) }
    this.#running.set(name, { ...running, lastStep: undefined, reply: undefined })
  }

  /** Lets the caller send its commands, or so many of them. Returns whether it stopped before its program ended. */
  async proceed(name: CallerName, commands = Infinity): Promise<boolean> {
    const running = this.#running.get(name)
    if (running === undefined) return false
    for (let sent = 0; sent < commands; sent += 1) {
      const next = running.program.next(running.reply)
      if (next.done === true) {
        this.#running.delete(name)
        const note = running.onResult(next.value)
        if (running.lastStep !== undefined) running.lastStep.note = note
        return false
      }
      const { text, send } = next.value
      running.reply = await send(this.#callers[name])
      running.lastStep = { who: name, text, reply: running.reply }
      this.steps.push(running.lastStep)
    }
    return true
  }
}
