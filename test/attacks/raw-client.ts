import { connect, type Socket } from 'node:net'

/** A request of which every byte goes out as it is written here. */
export interface Ask {
  readonly method?: string
  readonly target?: string
  readonly version?: string
  /** In this order, repeated names too. `Host: shop.example` comes first unless they name one; undefined leaves it out. */
  readonly fields?: readonly (readonly [name: string, value: string | undefined])[]
  readonly body?: string
}

/** What came back: `status` 0 where the connection ended before a head. */
export interface Answer {
  readonly status: number
  /** Lower-case names; the lines of each. */
  readonly fields: Readonly<Record<string, readonly string[]>>
  readonly body: string
  /** Whether the body came to its end. */
  readonly whole: boolean
  /** All of it, head and body, as it stood on the wire. */
  readonly raw: string
}

const NOTHING: Answer = { status: 0, fields: {}, body: '', whole: false, raw: '' }

export function bytesOf({ method = 'GET', target = '/', version = '1.1', fields = [], body = '' }: Ask): string {
  const hosts = fields.some(([name]) => name.toLowerCase() === 'host') ? [] : ([['Host', 'shop.example']] as const)
  const lines = [...hosts, ...fields].flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}\r\n`]))
  return `${method} ${target} HTTP/${version}\r\n${lines.join('')}\r\n${body}`
}

/** Asks over a connection of its own, and hangs up once the answer is there. */
export async function ask(port: number, request: Ask | string): Promise<Answer> {
  const connection = await Connection.open(port)
  connection.write(request)
  const answer = await connection.next(typeof request === 'string' ? undefined : request.method)
  connection.leave()
  return answer
}

/** A connection by hand: no library between the test and the socket. Its bytes are read as Latin-1, one character each. */
export class Connection {
  readonly #socket: Socket
  #received = ''
  #ended = false
  #woken: () => void = () => undefined

  private constructor(socket: Socket) {
    this.#socket = socket
    const wake = (): void => this.#woken()
    socket.on('error', () => undefined)
    socket.on('data', (chunk: Buffer) => {
      this.#received += chunk.toString('latin1')
      wake()
    })
    for (const event of ['end', 'close'])
      socket.once(event, () => {
        this.#ended = true
        wake()
      })
  }

  static open(port: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
      socket.once('error', reject)
      socket.once('connect', () => resolve(new Connection(socket)))
    })
  }

  write(request: Ask | string): void {
    this.#socket.write(typeof request === 'string' ? request : bytesOf(request), 'latin1')
  }

  /** The next answer on this connection. */
  async next(method: string = 'GET'): Promise<Answer> {
    for (;;) {
      const found = firstOf(this.#received, method, this.#ended)
      if (typeof found !== 'number') {
        this.#received = this.#received.slice(found.raw.length)
        return found
      }
      if (this.#ended) return NOTHING
      while (this.#received.length < found && !this.#ended)
        await new Promise<void>((resolve) => {
          this.#woken = resolve
        })
    }
  }

  /** What came and belongs to no answer that was asked for. */
  get left(): string {
    return this.#received
  }

  /** Resolves once the other side will send nothing more. */
  async ended(): Promise<void> {
    while (!this.#ended)
      await new Promise<void>((resolve) => {
        this.#woken = resolve
      })
  }

  /** Reads nothing from here on. */
  stall(): void {
    this.#socket.pause()
  }

  /** Says that nothing more will come, and goes on reading. */
  finish(): void {
    this.#socket.end()
  }

  leave(): void {
    this.#socket.destroy()
  }
}

/** The first final answer in what came, by RFC 9112 section 6.3; where more is to come, the length that must have come before it is worth another look. */
function firstOf(text: string, method: string, ended: boolean): Answer | number {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return text.length + 1
  const [line = '', ...lines] = text.slice(0, end).split('\r\n')
  const status = Number(line.split(' ')[1])
  const interim = status < 200
  if (interim) {
    const final = firstOf(text.slice(end + 4), method, ended)
    return typeof final === 'number' ? end + 4 + final : { ...final, raw: text.slice(0, end + 4) + final.raw }
  }
  const fields = fieldsIn(lines)
  const body = method === 'HEAD' || status === 204 || status === 304 ? '' : undefined
  const read = body === undefined ? bodyIn(text.slice(end + 4), fields, ended) : { body, length: 0, whole: true }
  if (typeof read === 'number') return end + 4 + read
  return { status, fields, body: read.body, whole: read.whole, raw: text.slice(0, end + 4 + read.length) }
}

function fieldsIn(lines: readonly string[]): Readonly<Record<string, readonly string[]>> {
  const fields = new Map<string, string[]>()
  for (const line of lines) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).toLowerCase()
    fields.set(name, [...(fields.get(name) ?? []), line.slice(colon + 1).trim()])
  }
  return Object.fromEntries(fields)
}

interface Body {
  readonly body: string
  /** On the wire. */
  readonly length: number
  readonly whole: boolean
}

function bodyIn(text: string, fields: Answer['fields'], ended: boolean): Body | number {
  if (fields['transfer-encoding'] !== undefined) return chunksIn(text, ended)
  const [declared] = fields['content-length'] ?? []
  if (declared === undefined) return ended ? { body: text, length: text.length, whole: true } : text.length + 1
  const whole = text.length >= Number(declared)
  if (!whole && !ended) return Number(declared)
  const body = text.slice(0, Number(declared))
  return { body, length: body.length, whole }
}

function chunksIn(text: string, ended: boolean): Body | number {
  let body = ''
  let at = 0
  for (;;) {
    const line = text.indexOf('\r\n', at)
    const size = Number.parseInt(text.slice(at, line), 16)
    const next = line < 0 ? text.length + 1 : line + 2 + size + 2
    if (text.length < next) return ended ? { body, length: text.length, whole: false } : next
    body += text.slice(line + 2, line + 2 + size)
    at = next
    if (size === 0) return { body, length: at, whole: true }
  }
}

/** What an honest client has to look at: its status, and whether anything of the attacker's, who signs with `evil`, is in its answer. */
export function verdict({ status, raw }: Answer): { readonly status: number; readonly evil: boolean } {
  return { status, evil: /evil/i.test(raw) }
}

export const CLEAN = { status: 200, evil: false } as const
