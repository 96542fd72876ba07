import { ask, textOf, type WireAnswer, type WireRequest } from '../wire.ts'

/** The clients of every script. Their names occur in nothing else, so that a response that crossed shows. */
export const CLIENTS = ['annabelle', 'bartholomew', 'guest-visitor'] as const
export type Name = (typeof CLIENTS)[number]
export const [ANN, BOB, GUEST] = CLIENTS
export const MEMBERS: readonly Name[] = [ANN, BOB]

/** The fields that tell the clients apart: languages, codings, origins; a guest has no cookie and no credentials. */
const FIELDS: Readonly<Record<Name, Readonly<Record<string, string>>>> = {
  [ANN]: { 'accept-language': 'en', 'accept-encoding': 'gzip' },
  [BOB]: { 'accept-language': 'de', 'accept-encoding': 'identity' },
  [GUEST]: { 'accept-language': 'en', 'accept-encoding': 'br, gzip' },
}

/** Fields with a new value for each request. A value that two clients were given has crossed. */
export const PER_REQUEST = ['x-request-id', 'x-nonce']

/** One client of one app, with its cookies. */
export class Client {
  readonly name: Name
  /** What this client was given and no other may see. */
  readonly secrets: Set<string> = new Set()
  readonly #port: number
  readonly #cookies = new Map<string, string>()
  readonly #fields: Readonly<Record<string, string>>
  #etag: string | undefined

  constructor(name: Name, port: number, credentials: boolean) {
    this.name = name
    this.#port = port
    this.secrets.add(name)
    const own = { 'user-agent': name, origin: `https://${name}.example`, ...FIELDS[name] }
    const authorization = `Basic ${Buffer.from(`${name}:secret`).toString('base64')}`
    this.#fields = credentials && name !== GUEST ? { ...own, authorization } : own
    if (name !== GUEST) this.#cookies.set('who', name)
  }

  async send(path: string, { headers, ...request }: WireRequest = {}): Promise<WireAnswer> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const condition = headers?.['if-none-match'] === 'own' ? { 'if-none-match': this.#etag ?? '"none"' } : {}
    const fields = { ...this.#fields, ...(cookie === '' ? {} : { cookie }), ...headers, ...condition }
    const answer = await ask(this.#port, path, { ...request, headers: fields })
    this.#etag = answer.headers.etag ?? this.#etag
    this.#learn(answer)
    return answer
  }

  #learn({ headers }: WireAnswer): void {
    for (const line of headers['set-cookie'] ?? []) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      this.#cookies.set(name, value)
      if (value.length > 8) this.secrets.add(value)
    }
    for (const name of PER_REQUEST) if (headers[name] !== undefined) this.secrets.add(String(headers[name]))
  }
}

/** Everything that a client can read of a response: its bytes where they are not in the coding that it names, such as an aborted one. */
export function readable(answer: WireAnswer): string {
  const fields = JSON.stringify(answer.headers)
  try {
    return `${fields}\n${textOf(answer)}`
  } catch {
    return `${fields}\n${answer.body.toString()}`
  }
}
