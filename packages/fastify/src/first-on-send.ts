import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { UnsupportedFastifyError } from './errors.ts'
import { internalOf } from './internals.ts'

/** Continues after an `onSend` hook: with an error, or with the payload that is sent. */
export type OnSendDone = (error: Error | null, payload?: unknown) => void

/**
 * What gets the payload of a reply before the `onSend` hooks of others. All copies and versions of this
 * package share its form.
 */
export interface PayloadReceiver {
  /** The receiver of the caching place around this one, which gets the payload afterwards. */
  readonly outer: PayloadReceiver | undefined
  onSend(payload: unknown, done: OnSendDone): void
}

/**
 * The property of a reply that holds its innermost receiver. A property costs a hit less than a map of
 * all replies.
 */
const RECEIVER = Symbol.for('cattlegrid.receiver')
/** Marks the hook below, whichever copy of this package has added it. */
const FIRST = Symbol.for('cattlegrid.firstOnSend')

interface Receiving {
  [RECEIVER]?: PayloadReceiver | undefined
}

const receiveFirst = Object.assign(
  (_request: FastifyRequest, reply: FastifyReply, payload: unknown, done: OnSendDone): void =>
    receive(receiverOf(reply), payload, done),
  { [FIRST]: true },
)

/**
 * Gives the receivers of an app's replies each payload before the `onSend` hooks of others, also of those
 * that the app has added earlier. Fastify appends the hooks that plugins add, and makes the list of each
 * route when the app is ready.
 *
 * @throws UnsupportedFastifyError if Fastify keeps its hooks elsewhere.
 */
export function receivePayloadsFirst(app: FastifyInstance): void {
  const { onSend } = internalOf(app, 'fastify.hooks') as { readonly onSend?: unknown }
  if (!Array.isArray(onSend)) throw new UnsupportedFastifyError('fastify.hooks')
  if (!app.hasReplyDecorator(RECEIVER)) app.decorateReply(RECEIVER, undefined)
  if (!onSend.some((hook: object) => FIRST in hook)) onSend.unshift(receiveFirst)
}

export function receiverOf(reply: FastifyReply): PayloadReceiver | undefined {
  return (reply as Receiving)[RECEIVER]
}

/** From now on, the payloads of the reply go to this receiver and to those around it. */
export function setReceiver(reply: FastifyReply, receiver: PayloadReceiver | undefined): void {
  ;(reply as Receiving)[RECEIVER] = receiver
}

function receive(receiver: PayloadReceiver | undefined, payload: unknown, done: OnSendDone): void {
  if (receiver === undefined) return done(null, payload)
  const { outer } = receiver
  if (outer === undefined) return receiver.onSend(payload, done)
  receiver.onSend(payload, (error, passed) => {
    if (error === null) receive(outer, passed, done)
    else done(error)
  })
}
