import { errorText } from '../../error-text.ts'
import type { Action, ActionState, Told } from './action.ts'
import type { SideFigures } from './aftermath.ts'

export interface ShownAction extends Omit<Action, 'run'> {
  readonly state: ActionState
  /** Seconds until it is undone by itself; undefined if it is not. */
  readonly restoresIn?: number | undefined
}

export interface LogLine {
  /** The lines count from 1. */
  readonly number: number
  readonly at: number
  readonly text: string
  /** What each side has counted since. */
  readonly figures?: readonly SideFigures[] | undefined
  readonly failed?: true | undefined
}

interface Entry {
  readonly number: number
  readonly at: number
  text: string
  readonly figures: Told['figures']
  readonly failed?: true | undefined
}

interface Active {
  readonly restore: () => Promise<Told>
  /** Undefined: only by a press. */
  readonly restoresAt?: number | undefined
  readonly timer?: NodeJS.Timeout | undefined
}

const KEPT_LINES = 12

/** The buttons: what each of them has done, and when it is undone. */
export class ActionBoard {
  readonly #log: Entry[] = []
  #lines = 0
  readonly #holds: boolean
  readonly #actions: readonly Action[]
  readonly #running = new Set<string>()
  readonly #active = new Map<string, Active>()
  readonly #seconds: () => number
  readonly #onChange = new Set<() => void>()

  /** `seconds`: the time of the show. `holds`: nothing is undone by itself. */
  constructor(actions: readonly Action[], seconds: () => number, holds = false) {
    this.#actions = actions
    this.#holds = holds
    this.#seconds = seconds
  }

  /** The latest line is the last. */
  get log(): LogLine[] {
    return this.#log.map(({ figures, ...line }) => ({ ...line, figures: figures?.() }))
  }

  onChange(listener: () => void): () => void {
    this.#onChange.add(listener)
    return () => void this.#onChange.delete(listener)
  }

  list(): ShownAction[] {
    return this.#actions.map(({ run: _run, ...action }) => {
      const active = this.#active.get(action.id)
      const left = active?.restoresAt === undefined ? undefined : active.restoresAt - performance.now()
      const restoresIn = left === undefined ? undefined : Math.max(0, Math.ceil(left / 1_000))
      return { ...action, state: this.#stateOf(action), restoresIn }
    })
  }

  /** Does what the button says, or undoes it. Returns false if there is no such button, or it cannot be pressed now. */
  async press(id: string): Promise<boolean> {
    const action = this.#actions.find((one) => one.id === id)
    if (action === undefined || action.unavailable !== undefined || this.#running.has(id)) return false
    await this.#while(id, () => (this.#active.has(id) ? this.#restore(id) : this.#perform(action)))
    return true
  }

  /** Nothing is undone from now on: what was started is ended anyway. */
  close(): void {
    for (const { timer } of this.#active.values()) clearTimeout(timer)
    this.#active.clear()
  }

  async #perform(action: Action): Promise<Told> {
    const { restore, restoreAfterMs, ...told } = await action.run()
    if (restore !== undefined && (this.#holds || restoreAfterMs === undefined)) this.#active.set(action.id, { restore })
    else if (restore !== undefined) {
      const timer = setTimeout(() => void this.#while(action.id, () => this.#restore(action.id)), restoreAfterMs)
      this.#active.set(action.id, { restore, restoresAt: performance.now() + (restoreAfterMs ?? 0), timer })
    }
    return told
  }

  async #restore(id: string): Promise<Told | undefined> {
    const active = this.#active.get(id)
    if (active === undefined) return undefined
    this.#active.delete(id)
    clearTimeout(active.timer)
    return await active.restore()
  }

  async #while(id: string, change: () => Promise<Told | undefined>): Promise<void> {
    this.#running.add(id)
    this.#tell()
    try {
      this.#say(await change())
    } catch (error) {
      const { label = id } = this.#actions.find((one) => one.id === id) ?? {}
      this.#say({ message: `“${label}” failed: ${errorText(error)}` }, true)
    } finally {
      this.#running.delete(id)
      this.#tell()
    }
  }

  #stateOf({ id, unavailable }: Pick<Action, 'id' | 'unavailable'>): ActionState {
    if (unavailable !== undefined) return 'unavailable'
    if (this.#running.has(id)) return 'running'
    return this.#active.has(id) ? 'active' : 'ready'
  }

  #say(told: Told | undefined, failed?: true): void {
    if (told === undefined) return
    this.#lines += 1
    const line: Entry = {
      number: this.#lines,
      at: Math.round(this.#seconds()),
      text: told.message,
      figures: told.figures,
      failed,
    }
    this.#log.push(line)
    if (this.#log.length > KEPT_LINES) this.#log.shift()
    void told.outcome?.then((text) => {
      line.text = text
      this.#tell()
    })
  }

  #tell(): void {
    for (const listener of this.#onChange) listener()
  }
}
