import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'

/** A response of the origin: these fields, or a function. */
export type Step = ScriptedAnswer | ((req: IncomingMessage, res: ServerResponse) => void)

export interface ScriptedAnswer {
  readonly status?: number
  readonly fields?: Readonly<Record<string, string | readonly string[]>>
  readonly body?: string
}

/** A request as it reached the origin. */
export interface Arrived {
  readonly method: string
  readonly target: string
  readonly headers: IncomingHttpHeaders
  readonly rawHeaders: readonly string[]
  readonly body: string
}

/** Answers every path by its script, and records the requests. */
export class ScriptedOrigin {
  readonly #server = createServer((req, res) => void this.#answer(req, res))
  readonly #scripts = new Map<string, Step[]>()
  readonly #arrived = new Map<string, Arrived[]>()

  async listen(): Promise<URL> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return new URL(`http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`)
  }

  /** The last step also answers all later requests. */
  script(path: string, steps: readonly Step[]): void {
    this.#scripts.set(path, [...steps])
  }

  /** The requests for a path, with any query. */
  arrived(path: string): readonly Arrived[] {
    return this.#arrived.get(path) ?? []
  }

  /** Closes the open connections too. */
  async close(): Promise<void> {
    if (!this.#server.listening) return
    this.#server.close()
    this.#server.closeAllConnections()
    await once(this.#server, 'close')
  }

  async #answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    res.sendDate = false
    const { method = '', url: target = '', headers, rawHeaders } = req
    const [path = ''] = target.split('?')
    const body = (await req.setEncoding('utf8').toArray()).join('')
    const arrived = this.#arrived.get(path) ?? []
    this.#arrived.set(path, [...arrived, { method, target, headers, rawHeaders, body }])
    const steps = this.#scripts.get(path) ?? []
    const step = steps[Math.min(arrived.length, steps.length - 1)] ?? { status: 404 }
    if (typeof step === 'function') return step(req, res)
    const fields = { Date: new Date().toUTCString(), ...step.fields }
    for (const [name, value] of Object.entries(fields)) {
      if (value === '') res.removeHeader(name)
      else res.setHeader(name, value)
    }
    res
      .writeHead(step.status ?? 200)
      .end(method === 'HEAD' || step.status === 304 ? undefined : (step.body ?? `body ${arrived.length + 1}`))
  }
}
