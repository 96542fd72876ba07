import type { Action, ActionState } from './action.ts'

export interface ShownAction extends Omit<Action, 'run'> {
  readonly state: ActionState
  /** Seconds until it is undone by itself. */
  readonly restoresIn?: number | undefined
}

export interface LogLine {
  readonly at: number
  readonly text: string
}

interface Active {
  readonly restore: () => Promise<string>
  readonly restoresAt: number
  readonly timer: NodeJS.Timeout
}

const KEPT_LINES = 12

/** The buttons: what each of them has done, and when it is undone. */
export class ActionBoard {
  readonly log: LogLine[] = []
  readonly #actions: readonly Action[]
  readonly #running = new Set<string>()
  readonly #active = new Map<string, Active>()
  readonly #seconds: () => number
  readonly #onChange = new Set<() => void>()

  /** `seconds`: the time of the show. */
  constructor(actions: readonly Action[], seconds: () => number) {
    this.#actions = actions
    this.#seconds = seconds
  }

  onChange(listener: () => void): () => void {
    this.#onChange.add(listener)
    return () => void this.#onChange.delete(listener)
  }

  list(): ShownAction[] {
    return this.#actions.map(({ run: _run, ...action }) => {
      const active = this.#active.get(action.id)
      const restoresIn = active && Math.max(0, Math.ceil((active.restoresAt - performance.now()) / 1_000))
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

  async #perform(action: Action): Promise<string> {
    const { message, restore, restoreAfterMs } = await action.run()
    if (restore !== undefined && restoreAfterMs !== undefined) {
      const timer = setTimeout(() => void this.#while(action.id, () => this.#restore(action.id)), restoreAfterMs)
      this.#active.set(action.id, { restore, restoresAt: performance.now() + restoreAfterMs, timer })
    }
    return message
  }

  async #restore(id: string): Promise<string | undefined> {
    const active = this.#active.get(id)
    if (active === undefined) return undefined
    this.#active.delete(id)
    clearTimeout(active.timer)
    return await active.restore()
  }

  async #while(id: string, change: () => Promise<string | undefined>): Promise<void> {
    this.#running.add(id)
    this.#tell()
    try {
      this.#say(await change())
    } catch (error) {
      this.#say(`failed: ${error instanceof Error ? error.message : String(error)}`)
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

  #say(text: string | undefined): void {
    if (text === undefined) return
    this.log.push({ at: Math.round(this.#seconds()), text })
    if (this.log.length > KEPT_LINES) this.log.shift()
  }

  #tell(): void {
    for (const listener of this.#onChange) listener()
  }
}
