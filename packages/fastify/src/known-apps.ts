import { subscribe } from 'node:diagnostics_channel'
import type { FastifyInstance, FastifyReply, RouteOptions } from 'fastify'
import type { FastifyRouteOptions } from './cached.ts'

/** Continues after an `onSend` hook: with an error, or with the payload that is sent. */
export type OnSendDone = (error: Error | null, payload?: unknown) => void

export type OnSend = (reply: FastifyReply, payload: unknown, done: OnSendDone) => void

/** An app that was made after this module was loaded. */
interface KnownApp {
  /** The routes with `config.cache`, in the order of declaration. */
  readonly cachedRoutes: RouteOptions[]
  /** Runs before the `onSend` hooks of the app and of its plugins, also before those that were added earlier. */
  onSend: OnSend | undefined
  /** True if the app or one of its plugins added an `onSend` hook. */
  hasOnSend: boolean
}

const apps = new WeakMap<object, KnownApp>()

// Fastify publishes each new app on this channel: the only way to see the routes and to precede the hooks that an app declares before it registers the plugin.
subscribe('fastify.initialization', (message) => {
  const { fastify } = message as { readonly fastify: FastifyInstance }
  const known: KnownApp = { cachedRoutes: [], onSend: undefined, hasOnSend: false }
  apps.set(fastify, known)
  fastify.addHook('onRoute', (route) => {
    if (asksForCache(route.config)) known.cachedRoutes.push(route)
  })
  fastify.addHook('onSend', (_request, reply, payload, done) => {
    if (known.onSend === undefined) done(null, payload)
    else known.onSend(reply, payload, done)
  })
  // Plugins inherit the method.
  const addHook: unknown = Reflect.get(fastify, 'addHook')
  if (typeof addHook !== 'function') return
  const observedAddHook = new Proxy(addHook, {
    apply(target, app, args: unknown[]) {
      if (args[0] === 'onSend') known.hasOnSend = true
      return Reflect.apply(target, app, args) as unknown
    },
  })
  Reflect.set(fastify, 'addHook', observedAddHook)
})

/** `config`: the own configuration of a route. */
export function asksForCache(
  config: { readonly cache?: FastifyRouteOptions | false | undefined } | undefined,
): boolean {
  return config?.cache !== undefined && config.cache !== false
}

/** The app that this one was made from, if it is known: an encapsulated app has the app that it was registered on as its prototype. */
export function knownAppOf(app: FastifyInstance): KnownApp | undefined {
  for (
    let candidate: object | null = app;
    candidate !== null;
    candidate = Object.getPrototypeOf(candidate) as object | null
  ) {
    const known = apps.get(candidate)
    if (known !== undefined) return known
  }
  return undefined
}

/** True if an `onSend` hook of others may get the payloads of the app; also where it is not known. */
export function mayHaveOnSend(known: KnownApp | undefined): boolean {
  return known?.hasOnSend !== false
}

/** Adds an `onSend` hook that precedes those of others; in an app that is not known, only those that are added later. */
export function addFirstOnSend(app: FastifyInstance, onSend: OnSend): void {
  const known = knownAppOf(app)
  if (known === undefined) app.addHook('onSend', (_request, reply, payload, done) => onSend(reply, payload, done))
  else known.onSend = known.onSend === undefined ? onSend : inTurn(known.onSend, onSend)
}

function inTurn(first: OnSend, second: OnSend): OnSend {
  return (reply, payload, done) =>
    first(reply, payload, (error, passed) => {
      if (error === null) second(reply, passed, done)
      else done(error)
    })
}
