import { once } from 'node:events'
import { connect } from 'node:net'

/** A response as it was received. */
export interface RawAnswer {
  readonly status: number
  /** Lines of a field, in order; lower-case names. */
  readonly fields: ReadonlyMap<string, readonly string[]>
  readonly body: string
  /** The connection ended before the message did. */
  readonly cutOff: boolean
  /** True if `Cache-Status` says that no request went to the origin for this response. */
  readonly hit: boolean
  field(name: string): string | undefined
}

export interface RawRequest {
  readonly method?: string
  readonly fields?: Readonly<Record<string, string | readonly string[]>>
  readonly body?: string
}

/** Sends exactly these bytes and reads one response. No HTTP library stands between the test and the proxy. */
export async function ask(port: number, target: string, options: RawRequest = {}): Promise<RawAnswer> {
  const { method = 'GET', fields = {}, body = '' } = options
  const length = body === '' ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }
  const all = Object.entries({ Host: 'shop.example', Connection: 'close', ...length, ...fields })
  const lines = all.flatMap(([name, values]) => [values].flat().map((value) => `${name}: ${value}\r\n`))
  return await askRaw(port, `${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n${body}`, method)
}

export async function askRaw(port: number, bytes: string, method = 'GET'): Promise<RawAnswer> {
  return parseAnswer(await readRaw(port, bytes), method)
}

/** Returns the bytes that a connection receives until it ends. */
export async function readRaw(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', () => undefined)
  socket.write(bytes)
  await once(socket, 'close')
  return Buffer.concat(chunks).toString('latin1')
}

function parseAnswer(text: string, method: string): RawAnswer {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return answerOf(0, new Map(), '', true)
  const [statusLine = '', ...lines] = text.slice(0, end).split('\r\n')
  const status = Number(statusLine.split(' ')[1])
  // Another response follows an interim one.
  if (status < 200) return parseAnswer(text.slice(end + 4), method)
  const fields = new Map<string, string[]>()
  for (const line of lines) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).toLowerCase()
    fields.set(name, [...(fields.get(name) ?? []), line.slice(colon + 1).trim()])
  }
  const rest = text.slice(end + 4)
  if (method === 'HEAD' || status === 204 || status === 304) return answerOf(status, fields, '', false)
  if (fields.has('transfer-encoding')) return answerOf(status, fields, ...unchunk(rest))
  return answerOf(status, fields, rest, rest.length < Number(fields.get('content-length')?.[0] ?? 0))
}

function unchunk(text: string): [body: string, cutOff: boolean] {
  let body = ''
  for (let rest = text; ;) {
    const [, size = ''] = /^([\da-f]+)\r\n/i.exec(rest) ?? []
    if (size === '') return [body, true]
    const length = Number.parseInt(size, 16)
    if (length === 0) return [body, false]
    body += rest.slice(size.length + 2, size.length + 2 + length)
    rest = rest.slice(size.length + 2 + length + 2)
  }
}

function answerOf(
  status: number,
  fields: ReadonlyMap<string, readonly string[]>,
  body: string,
  cutOff: boolean,
): RawAnswer {
  const field = (name: string): string | undefined => fields.get(name.toLowerCase())?.join(', ')
  return { status, fields, body, cutOff, hit: /; hit\b/.test(field('cache-status') ?? ''), field }
}
