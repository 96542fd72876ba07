import type { ServerResponse } from 'node:http'

type WriteHead = (...args: unknown[]) => unknown

/**
 * The layers inside the cache that have replaced `writeHead`, as `on-headers` does. Node calls them within
 * `end`, when the layers outside have already seen the body; `collect` calls them before.
 */
export class InnerHead {
  readonly #res: ServerResponse
  /** The `writeHead` that the cache has set; any other is an inner layer's. */
  #own: WriteHead
  #collected: readonly unknown[] | undefined

  /** To be made before a layer inside replaces `writeHead`. */
  constructor(res: ServerResponse) {
    this.#res = res
    this.#own = writeHeadOf(res)
  }

  /** Keeps the arguments that the layers pass on, for `collect`. False: it does not run; write the head. */
  takes(args: readonly unknown[]): boolean {
    if (this.#collected === undefined) return false
    this.#collected = args
    return true
  }

  /** Runs the layers on an implicit head, and returns its arguments as they leave them. */
  collect(): readonly unknown[] {
    const res = this.#res
    const { statusCode } = res
    const own = this.#own
    if (writeHeadOf(res) === own) return [statusCode]
    const args = this.#run(statusCode)
    res.statusCode = Number(args[0])
    // The inner layers have run, and are taken off. When Node calls `writeHead` in `end`, it gets the
    // arguments that the layers have passed on, unless the status has changed.
    const withInnerArguments: WriteHead = (...given) => own(...(given[0] === args[0] ? args : given))
    this.#own = withInnerArguments
    Reflect.set(res, 'writeHead', withInnerArguments)
    return args
  }

  #run(statusCode: number): readonly unknown[] {
    this.#collected = [statusCode]
    try {
      this.#res.writeHead(statusCode)
      return this.#collected
    } finally {
      this.#collected = undefined
    }
  }
}

function writeHeadOf(res: ServerResponse): WriteHead {
  return Reflect.get(res, 'writeHead') as WriteHead
}
