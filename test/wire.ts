// Clients that see what went over the wire: bodies as they were coded, answers in their order, informational ones too.
import { once } from 'node:events'
import { type IncomingHttpHeaders, type IncomingMessage, request as send } from 'node:http'
import { connect } from 'node:net'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'

export interface WireAnswer {
  /** 0 where the connection ended before a head came. */
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** Not decoded. */
  readonly body: Buffer
  /** Whether the answer came to its end. */
  readonly whole: boolean
  /** The `Link` fields of the 103s before it. */
  readonly hints: readonly string[]
}

export interface WireRequest {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** Asks over a connection of its own. */
export function ask(
  port: number,
  path: string,
  { method = 'GET', headers = {}, body }: WireRequest = {},
): Promise<WireAnswer> {
  return new Promise((resolve) => {
    const hints: string[] = []
    const request = send({ host: '127.0.0.1', port, path, method, headers: { host: 'shop', ...headers }, agent: false })
    request.on('information', ({ headers: early }) => hints.push(String(early['link'])))
    request.once('error', () => resolve({ status: 0, headers: {}, body: Buffer.alloc(0), whole: false, hints }))
    request.once('response', (response) => void received(response, hints).then(resolve))
    request.end(body)
  })
}

async function received(response: IncomingMessage, hints: readonly string[]): Promise<WireAnswer> {
  const chunks: Buffer[] = []
  response.on('error', () => undefined)
  response.on('data', (chunk: Buffer) => chunks.push(chunk))
  // `once` of node:events would reject with the error of an answer that breaks off.
  await new Promise((resolve) => response.once('close', resolve))
  const { statusCode: status = 0, headers, complete: whole } = response
  return { status, headers, body: Buffer.concat(chunks), whole, hints }
}

/** The body as its client reads it: decoded once, by the coding that the answer names. */
export function textOf({ headers, body }: Pick<WireAnswer, 'headers' | 'body'>): string {
  const coding = headers['content-encoding']
  if (body.length === 0 || coding === undefined || coding === 'identity') return body.toString()
  if (coding === 'gzip') return gunzipSync(body).toString()
  if (coding === 'br') return brotliDecompressSync(body).toString()
  throw new Error(`a coding that nobody asked for: ${coding}`)
}

/** Writes this text at once on one connection, and reads until the other side ends it. */
export async function exchange(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk))
  socket.write(text)
  await once(socket, 'close')
  return Buffer.concat(chunks).toString('latin1')
}

/** One answer of several on a connection. */
export interface PipedAnswer {
  readonly status: number
  readonly fields: Readonly<Record<string, string>>
  readonly text: string
}

/** Takes the answers on a connection apart, by the rules of RFC 9112 section 6.3; `methods`: of the requests, in their order. */
export function answersIn(stream: string, methods: readonly string[]): readonly PipedAnswer[] {
  const answers: PipedAnswer[] = []
  let rest = stream
  for (const method of methods) {
    const end = rest.indexOf('\r\n\r\n')
    if (end < 0) throw new Error(`${answers.length} answers for ${methods.length} requests, then ${rest}`)
    const [first = '', ...lines] = rest.slice(0, end).split('\r\n')
    const fields = Object.fromEntries(
      lines.map((line) => {
        const [name = '', ...value] = line.split(': ')
        return [name.toLowerCase(), value.join(': ')]
      }),
    )
    const status = Number(first.split(' ')[1])
    rest = rest.slice(end + 4)
    const bodiless = method === 'HEAD' || status === 304 || status === 204
    const [text, left] = bodiless ? ['', rest] : bodyOf(fields, rest)
    answers.push({ status, fields, text })
    rest = left
  }
  if (rest !== '') throw new Error(`bytes after the last answer: ${rest}`)
  return answers
}

function bodyOf(fields: PipedAnswer['fields'], rest: string): readonly [string, string] {
  if (fields['transfer-encoding'] === 'chunked') return chunkedOf(rest)
  const length = fields['content-length']
  return length === undefined ? [rest, ''] : [rest.slice(0, Number(length)), rest.slice(Number(length))]
}

function chunkedOf(stream: string): readonly [string, string] {
  let text = ''
  for (let rest = stream; ;) {
    const line = rest.indexOf('\r\n')
    const size = Number.parseInt(rest.slice(0, line), 16)
    const begin = line + 2
    if (size === 0) return [text, rest.slice(begin + 2)]
    text += rest.slice(begin, begin + size)
    rest = rest.slice(begin + size + 2)
  }
}
