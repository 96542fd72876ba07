import { Caller, type Clock, type Name } from './caller.ts'
import type { Program } from './command.ts'
import type { Step } from './step.ts'
import type { Connections } from './worlds/connections.ts'

/** A program under way. */
interface Running {
  readonly program: Program<unknown>
  readonly finish: (result: unknown) => string | undefined
  /** Where its last command stands among all steps. */
  lastStep: number | undefined
  /** What was answered to that: the program sees it only when it goes on. */
  reply: unknown
}

/** The three callers, each in the middle of something or not, and all that they have sent. */
export class Actors {
  readonly clock: Clock = { seconds: 0 }
  readonly #steps: Step[] = []
  readonly #callers: Record<Name, Caller>
  readonly #running = new Map<Name, Running>()

  constructor(connections: Connections, namespace: string) {
    const caller = (name: Name): Caller => new Caller(name, connections, namespace, this.clock)
    this.#callers = { A: caller('A'), B: caller('B'), C: caller('C') }
  }

  get steps(): readonly Step[] {
    return this.#steps
  }

  called(name: Name): Caller {
    return this.#callers[name]
  }

  /** Notes a step, and returns its place. */
  tell(step: Step): number {
    return this.#steps.push(step) - 1
  }

  /** Makes ready what the caller does next. `finish` is told what came of it and may say something to the reader. */
  begin<Result>(name: Name, program: Program<Result>, finish: (result: Result) => string | undefined): void {
    const running = { program, finish: (result: unknown) => finish(result as Result) }
    this.#running.set(name, { ...running, lastStep: undefined, reply: undefined })
  }

  /** Sends what the caller has begun to send: all of it, or so many commands and then a pause. Returns whether it is paused. */
  async goOn(name: Name, pauseAfter = Infinity): Promise<boolean> {
    const running = this.#running.get(name)
    if (running === undefined) return false
    for (let sent = 0; sent < pauseAfter; sent += 1) {
      const next = running.program.next(running.reply)
      if (next.done === true) {
        this.#running.delete(name)
        this.#conclude(running, next.value)
        return false
      }
      const { text, send } = next.value
      running.reply = await send(this.#callers[name])
      running.lastStep = this.tell({ who: name, text, reply: running.reply })
    }
    return true
  }

  #conclude({ finish, lastStep }: Running, result: unknown): void {
    const note = finish(result)
    const last = lastStep === undefined ? undefined : this.#steps[lastStep]
    if (lastStep !== undefined && last !== undefined) this.#steps[lastStep] = { ...last, note }
  }
}
