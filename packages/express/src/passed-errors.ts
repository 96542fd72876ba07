import type { IncomingMessage } from 'node:http'
import { notePassedError } from '@cattlegrid/http'
import { layersOf, type RoutingApp } from './layer.ts'

type HandleError = (this: unknown, error: unknown, req: IncomingMessage, ...rest: unknown[]) => unknown

/** The methods by which Express 5 and 4 pass an error to each layer that follows. */
const METHODS = ['handleError', 'handle_error']
/** Marks a method that notes errors already. Another copy of the package must know it. */
const NOTES = Symbol.for('cattlegrid.notesErrors')

const seen = new WeakSet<RoutingApp>()

/**
 * Notes each error that a layer of this app passes on: Express tells nobody else of it before its error
 * handlers answer.
 */
export function notePassedErrors(app: RoutingApp): void {
  if (seen.has(app)) return
  seen.add(app)
  for (let each: RoutingApp | undefined = app; each !== undefined; each = each.parent)
    for (const prototype of new Set(layersOf(each).map(({ layer }) => Object.getPrototypeOf(layer) as object)))
      for (const name of METHODS) replace(prototype, name)
}

function replace(prototype: object, name: string): void {
  const method: unknown = Reflect.get(prototype, name)
  if (typeof method !== 'function' || NOTES in method) return
  const noting: HandleError = function (error, req, ...rest) {
    notePassedError(req, error)
    return Reflect.apply(method, this, [error, req, ...rest]) as unknown
  }
  Reflect.set(prototype, name, Object.assign(noting, { [NOTES]: true }))
}
