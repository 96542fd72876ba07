import type { IncomingMessage, ServerResponse } from 'node:http'
import { type DetachedResponse, discardChunk, type HeaderFields, type NotModified, parseHead } from '@cattlegrid/http'

/** Observes a response where Fastify passes it to Node. */
export interface RawWatch {
  /** Called with the final head. Returns the fields to send with it, which replace those that are set. */
  announces(status: number, fields: HeaderFields): Readonly<Record<string, string>>
  /** How the head changes if the client gets a 304 instead of this whole response. */
  answersNotModified(): NotModified | undefined
  /** Called when Node has accepted that head. */
  head(): void
  /** Whether the handler may write without waiting for the client. */
  readonly skipBackpressure: boolean
  end(): void
  /** Called when the connection closes, also after a whole response. */
  close(): void
}

/** The state of Node's response. */
export interface RawState {
  /** Whether this process aborted the response: the handler did, or Fastify because a stream failed. */
  brokenOff: boolean
  /** Set if the client left before the head and the handler goes on. */
  detached: DetachedResponse | undefined
}

/** Whether the client has left. A detached response hides that; for HTTP/2 only the request's socket shows it. */
export function isGone(raw: ServerResponse, { socket }: IncomingMessage): boolean {
  return raw.destroyed || socket.destroyed
}

/** The response's own methods. */
type OriginalMethods = Readonly<Record<'writeHead' | 'write' | 'end' | 'destroy', (...parameters: never[]) => unknown>>

/** The arguments of `writeHead` for a 304 in place of a response with these fields. */
function notModifiedHead(
  raw: ServerResponse,
  fields: HeaderFields,
  { removed, fields: added }: NotModified,
): unknown[] {
  for (const name of removed) raw.removeHeader(name)
  const kept = Object.entries(fields).filter(([name]) => !removed.includes(name))
  return [304, { ...Object.fromEntries(kept), ...added }]
}

/**
 * Wraps the methods of Node's response, below every `onSend` hook. Only here is visible what later hooks add, `@fastify/cookie` among them, and
 * what a handler writes past Fastify.
 */
export function watchRaw(raw: ServerResponse, req: IncomingMessage, watch: RawWatch): RawState {
  const { writeHead, write, end, destroy } = raw as OriginalMethods
  const state: RawState = { brokenOff: false, detached: undefined }
  let headSeen = false
  let bodiless = false
  /** Whether a chunk is dropped. For a client that has left Node writes no implicit head, but the waiting requests need one. */
  const discards = (): boolean => {
    if (state.detached?.open === true && !headSeen) raw.writeHead(raw.statusCode)
    return bodiless || state.detached?.open === true
  }
  Object.assign(raw, {
    writeHead(...parameters: unknown[]): unknown {
      const { status, fields } = parseHead(raw, parameters)
      const announced = watch.announces(status, fields)
      const spared = watch.answersNotModified()
      bodiless = spared !== undefined
      const told = { ...fields, ...announced }
      const final = Object.keys(announced).length === 0 ? parameters : [status, told]
      const head = spared === undefined ? final : notModifiedHead(raw, told, spared)
      const result: unknown = Reflect.apply(writeHead, raw, head)
      headSeen = true
      watch.head()
      return result
    },
    write(...parameters: unknown[]): unknown {
      if (discards()) return discardChunk(parameters)
      const ready: unknown = Reflect.apply(write, raw, parameters)
      return ready === true || watch.skipBackpressure
    },
    end(...parameters: unknown[]): unknown {
      const discarded = discards() && discardChunk(parameters)
      const result: unknown = Reflect.apply(end, raw, discarded ? [] : parameters)
      watch.end()
      state.detached?.finish()
      return result
    },
    destroy(...parameters: unknown[]): unknown {
      // Node itself destroys a response that waits for its turn on the connection, once that is gone.
      if (isGone(raw, req)) state.detached?.giveUp()
      else state.brokenOff = true
      return Reflect.apply(destroy, raw, parameters)
    },
  })
  raw.once('close', () => {
    watch.close()
  })
  return state
}
