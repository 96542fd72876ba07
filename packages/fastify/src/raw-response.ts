import type { IncomingMessage, ServerResponse } from 'node:http'
import { type DetachedResponse, discardChunk, type HeaderFields, type NotModified, parseHead } from '@cattlegrid/http'

/** What is seen of an answer where Fastify hands it to Node. */
export interface RawWatch {
  /** The head as it goes down, final; returns the fields to send with it, over those that are set. */
  announces(status: number, fields: HeaderFields): Readonly<Record<string, string>>
  /** How the head differs where its client gets a 304 in the place of this whole answer. */
  answersNotModified(): NotModified | undefined
  /** Node accepted that head. */
  head(): void
  /** Whether writing need not wait for the client. */
  readonly skipBackpressure: boolean
  end(): void
  /** The connection closed, which is also how a whole answer ends. */
  close(): void
}

/** What is known of the response itself. */
export interface RawState {
  /** Whether this process broke it off: the handler, or Fastify because a stream failed. */
  brokenOff: boolean
  /** Set where the client left before the answer, and the handler goes on. */
  detached: DetachedResponse | undefined
}

/** Whether nobody can be answered any more. A detached response hides it; for one of HTTP/2 the socket of its request speaks. */
export function isGone(raw: ServerResponse, { socket }: IncomingMessage): boolean {
  return raw.destroyed || socket.destroyed
}

/** The methods as they were, which are called on the response, always. */
type OriginalMethods = Readonly<Record<'writeHead' | 'write' | 'end' | 'destroy', (...parameters: never[]) => unknown>>

/** What is to be given to `writeHead` for a 304 in the place of an answer with these fields. */
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
 * Watches Node's own response, below every `onSend` hook: what hooks that run after ours add, `@fastify/cookie` among them, is seen here and
 * nowhere else, and so is what a handler writes past Fastify.
 */
export function watchRaw(raw: ServerResponse, req: IncomingMessage, watch: RawWatch): RawState {
  const { writeHead, write, end, destroy } = raw as OriginalMethods
  const state: RawState = { brokenOff: false, detached: undefined }
  let headSeen = false
  let bodiless = false
  /** Whether a chunk goes nowhere. Node writes no implicit head for a client that has left, and others need it. */
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
