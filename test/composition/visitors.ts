import type { Cache } from '@cattlegrid/core'
import type { WireAnswer } from '../wire.ts'
import { Client, CLIENTS, MEMBERS, type Name, readable } from './clients.ts'
import type { Phase, Step } from './script.ts'

/** The requests of the clients of one app. */
interface Visit {
  /** Whether members send credentials. Default: false. */
  readonly credentials?: boolean
  /** The path of a step that names none. Default: `/page`. */
  readonly page?: string
  /** Requested before the script, by members. */
  readonly login?: string
}

/** The clients of one app, and what they were given. */
export class Visitors {
  readonly #clients: Readonly<Record<Name, Client>>
  readonly #seen: { readonly who: Name; readonly answer: WireAnswer }[] = []
  readonly #visit: Visit

  constructor(port: number, visit: Visit = {}) {
    this.#visit = visit
    const made = CLIENTS.map((name) => [name, new Client(name, port, visit.credentials ?? false)])
    this.#clients = Object.fromEntries(made) as Record<Name, Client>
  }

  async logIn(): Promise<void> {
    const { login } = this.#visit
    if (login !== undefined) for (const who of MEMBERS) await this.#clients[who].send(login)
  }

  async play({ steps, atOnce = false }: Pick<Phase, 'steps' | 'atOnce'>): Promise<readonly WireAnswer[]> {
    if (atOnce) return await Promise.all(steps.map((step) => this.#take(step)))
    const answers: WireAnswer[] = []
    for (const step of steps) answers.push(await this.#take(step))
    return answers
  }

  /** The secrets that a client was given of another, in sentences. */
  crossed(): readonly string[] {
    return this.#seen.flatMap(({ who, answer }) =>
      CLIENTS.filter((other) => other !== who).flatMap((other) =>
        [...this.#clients[other].secrets]
          .filter((secret) => readable(answer).includes(secret))
          .map((secret) => `${who} was given ${secret} of ${other}`),
      ),
    )
  }

  async #take({ who, path, ...request }: Step): Promise<WireAnswer> {
    const answer = await this.#clients[who].send(path ?? this.#visit.page ?? '/page', request)
    this.#seen.push({ who, answer })
    return answer
  }
}

/** Resolves when no load has run for some turns of the event loop. */
export function settling(cache: Cache): () => Promise<void> {
  let running = 0
  cache.on('load', () => {
    running += 1
  })
  cache.on('outcome', () => {
    running -= 1
  })
  return async () => {
    for (let quiet = 0; quiet < 20; quiet = running === 0 ? quiet + 1 : 0) await new Promise(setImmediate)
  }
}
