import type { ServerResponse } from 'node:http'
import { type HeaderFields, parseHead } from '@cattlegrid/http'

/** What is seen of an answer where Fastify hands it to Node. */
export interface RawWatch {
  /** Node accepted the head: it is final. */
  head(status: number, fields: HeaderFields): void
  /** Whether writing need not wait for the client. */
  readonly hurries: boolean
  end(): void
  /** The connection closed, which is also how a whole answer ends. */
  close(): void
}

/** What is known of the response itself. */
export interface RawState {
  /** Whether this process broke it off: the handler, or Fastify because a stream failed. */
  readonly brokenOff: boolean
}

/** The methods as they were, which are called on the response, always. */
type Below = Readonly<Record<'writeHead' | 'write' | 'end' | 'destroy', (...parameters: never[]) => unknown>>

/**
 * Watches Node's own response, below every `onSend` hook: what hooks that run after ours add, `@fastify/cookie` among them, is seen here and
 * nowhere else, and so is what a handler writes past Fastify.
 */
export function watchRaw(raw: ServerResponse, watch: RawWatch): RawState {
  const { writeHead, write, end, destroy } = raw as Below
  const state = { brokenOff: false }
  Object.assign(raw, {
    writeHead(...parameters: unknown[]): unknown {
      const { status, fields } = parseHead(raw, parameters)
      const result: unknown = Reflect.apply(writeHead, raw, parameters)
      watch.head(status, fields)
      return result
    },
    write(...parameters: unknown[]): unknown {
      const ready: unknown = Reflect.apply(write, raw, parameters)
      return ready === true || watch.hurries
    },
    end(...parameters: unknown[]): unknown {
      const result: unknown = Reflect.apply(end, raw, parameters)
      watch.end()
      return result
    },
    destroy(...parameters: unknown[]): unknown {
      state.brokenOff = true
      return Reflect.apply(destroy, raw, parameters)
    },
  })
  raw.once('close', () => {
    watch.close()
  })
  return state
}
