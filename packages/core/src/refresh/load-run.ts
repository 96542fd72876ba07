import { Deferred } from '../flight/deferred.ts'
import type { Engine } from '../flight/engine.ts'
import type { Call } from '../flight/call.ts'
import type { Entry } from '../entry.ts'
import { LoadTimeoutError } from '../errors.ts'
import type { KeepOptions, Load, UncacheableOptions } from '../load.ts'
import { runInLoad, activeLoads, endLoad } from '../flight/reentrancy.ts'
import { booleanRule, checkOptions, durationRule, type OptionRules } from '../option-rules.ts'
import { withKeepOptions } from '../options/parse-options.ts'
import type { Settings } from '../options/settings.ts'

/** How a loader ended: what it returned, or why it did not. */
export type LoadEnd =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'error'; readonly error: unknown }
  /** Ended from outside, by `close`. */
  | { readonly kind: 'cut'; readonly error: unknown }

export interface UncacheableMark {
  readonly for: number
  readonly share: boolean
}

/** How long a key stays uncacheable unless the loader says otherwise, ms. */
const UNCACHEABLE_FOR = 10_000

const uncacheableRules = { for: durationRule(1), share: booleanRule } satisfies OptionRules<UncacheableOptions>

/** What a loader is told of how it runs. */
type LoadMode = Pick<Load, 'background' | 'leased'>

/** One run of a loader: its time-out, its signal, and what it decides about its result. */
export class LoadRun {
  readonly #call: Call
  readonly #engine: Engine
  readonly #abort = new AbortController()
  readonly #ended = new Deferred<LoadEnd>()
  #over = false
  #settings: Settings
  #mark: UncacheableMark | undefined
  /** Called as soon as the loader says that its result is for its own caller alone. */
  onUnshareable: ((mark: UncacheableMark) => void) | undefined

  constructor(call: Call, engine: Engine) {
    this.#call = call
    this.#engine = engine
    this.#settings = call.settings
  }

  /** The call's settings, with what the loader decided. */
  get settings(): Settings {
    return this.#settings
  }

  get mark(): UncacheableMark | undefined {
    return this.#mark
  }

  /** Tells the loader to stop; its result is still taken if it comes. */
  abort(reason: unknown): void {
    this.#abort.abort(reason)
  }

  /** Ends the load from outside, whatever the loader does. */
  cut(error: unknown): void {
    this.#end({ kind: 'cut', error })
    this.#abort.abort(error)
  }

  /** Runs the loader; never rejects, and ends at the latest with `loadTimeout`. */
  async run(stale: Entry | undefined, how: LoadMode): Promise<LoadEnd> {
    const { key, loader, settings } = this.#call
    const { runtime, admission } = this.#engine
    const cancelTimeout = runtime.schedule(() => this.#timeOut(), settings.loadTimeout)
    const load = this.#describe(stale, how)
    // A background load has no caller that waits for it, so it begins a chain of its own.
    const chain = { loads: [...(how.background ? [] : activeLoads()), admission.activeLoad(key)], over: false }
    new Promise((resolve) => {
      // Awaited inside the chain: what a lazy promise does when it is asked belongs to the load.
      resolve(runInLoad(chain, async () => await loader(load)))
    }).then(
      (value) => this.#end({ kind: 'value', value }),
      (error: unknown) => this.#end({ kind: 'error', error }),
    )
    const ended = await this.#ended.promise
    endLoad(chain)
    cancelTimeout()
    return ended
  }

  #timeOut(): void {
    const error = new LoadTimeoutError(this.#call.key, this.#call.settings.loadTimeout)
    this.#end({ kind: 'error', error })
    this.#abort.abort(error)
  }

  #end(ended: LoadEnd): void {
    this.#over = true
    this.#ended.resolve(ended)
  }

  #describe(stale: Entry | undefined, { background, leased }: LoadMode): Load<never> {
    const age = stale === undefined ? 0 : this.#engine.runtime.now() - stale.committedAt
    const abort = this.#abort
    return {
      key: this.#call.requestedKey,
      // Made when it is asked for: many a loader never looks at it.
      get signal() {
        return abort.signal
      },
      stale: stale === undefined ? undefined : { value: stale.value as never, age },
      background,
      leased,
      keep: (options) => this.#keep(options),
      uncacheable: (options) => this.#uncacheable(options),
    }
  }

  #keep(options: KeepOptions): void {
    if (!this.#over) this.#settings = withKeepOptions(this.#settings, options)
  }

  #uncacheable(options: UncacheableOptions | undefined): void {
    if (this.#over) return
    const mark = checkOptions('load.uncacheable', options, uncacheableRules)
    const share = mark.share !== false
    // Neither its length nor its secrecy changes once the others were sent on with it.
    this.#mark = this.#mark?.share === false ? this.#mark : { for: mark.for ?? UNCACHEABLE_FOR, share }
    if (!this.#mark.share) this.onUnshareable?.(this.#mark)
  }
}
