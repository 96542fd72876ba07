import { strict as assert } from 'node:assert'
import { type Agent, type ClientRequest, type IncomingMessage, request as send } from 'node:http'
import type { ContractMethod } from './contract-route.ts'

/** The request that a client sends. */
export interface Ask {
  readonly method?: ContractMethod | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body?: string | undefined
  /** Default: a connection of its own. */
  readonly agent?: Agent | undefined
}

/** The response that a client received; `status` is 0 if the connection ended before the response did. */
export interface Received {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly cookies: readonly string[]
  readonly body: Buffer
  readonly text: string
  readonly trailers: Readonly<Record<string, string | undefined>>
}

const CUT_OFF: Received = { status: 0, headers: {}, cookies: [], body: Buffer.alloc(0), text: '', trailers: {} }

/** Sends a request on a new socket, its target exactly as given, and waits for the whole response. */
export function ask(
  origin: string,
  target: string,
  { method = 'GET', headers = {}, body, agent }: Ask = {},
): Promise<Received> {
  return new Promise((resolve) => {
    const request = open(origin, target, method, headers, agent)
    request.once('error', () => {
      resolve(CUT_OFF)
    })
    request.once('response', (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.once('error', () => {
        resolve(CUT_OFF)
      })
      response.once('end', () => {
        const received = receive(response.statusCode ?? 0, response.headers, Buffer.concat(chunks))
        resolve({ ...received, trailers: { ...response.trailers } })
      })
    })
    request.end(body)
  })
}

/** A client that disconnects before the response ends. */
export interface Leaver {
  /** Resolves with the first bytes of the response. */
  readonly begun: Promise<void>
  leave(): void
  /** Sends what is no HTTP: the server then breaks the connection. */
  garble(): void
  /** Resolves 50 ms after the disconnect, when the server has noticed it. */
  readonly gone: Promise<void>
}

/** Sends a request and reads only the first bytes of the response. */
export function askAndLeave(origin: string, path: string): Leaver {
  const request = open(origin, path, 'GET', {})
  request.on('error', () => {})
  const begun = new Promise<void>((resolve) => {
    request.once('response', (response) => {
      response.on('error', () => {})
      response.once('readable', resolve)
    })
  })
  const gone = new Promise<void>((resolve) => {
    request.once('close', () => setTimeout(resolve, 50))
  })
  request.end()
  return {
    begun,
    gone,
    leave: () => {
      request.destroy()
    },
    garble: () => {
      request.socket?.write('no HTTP\r\n\r\n')
    },
  }
}

function open(
  origin: string,
  path: string,
  method: string,
  headers: Readonly<Record<string, string>>,
  agent: Agent | false = false,
): ClientRequest {
  const { hostname, port } = new URL(origin)
  return send({ hostname, port, path, method, headers, agent })
}

function receive(status: number, headers: IncomingMessage['headers'], body: Buffer): Received {
  const { 'set-cookie': cookies = [], ...others } = headers
  const single = Object.entries(others).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value])
  return {
    status,
    headers: Object.fromEntries(single) as Received['headers'],
    cookies: [...cookies],
    body,
    text: body.toString(),
    trailers: {},
  }
}

/** Less than the 5 s that test runners allow, so that the failure names the missing condition. */
const PATIENCE = 4500

/** Waits until `holds` returns true; fails with `what` if it does not in time. */
export async function until(what: string, holds: () => boolean): Promise<void> {
  const started = Date.now()
  while (!holds()) {
    assert.ok(Date.now() - started < PATIENCE, `not within ${PATIENCE} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}
