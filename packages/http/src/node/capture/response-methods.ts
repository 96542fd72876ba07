import type { OutgoingHttpHeader, ServerResponse } from 'node:http'
import { toText } from '../../fields/header-fields.ts'
import { isHeadSent } from '../../fields/response-state.ts'

type MethodName = 'writeHead' | 'write' | 'end' | 'flushHeaders' | 'addTrailers' | 'destroy' | FieldMethod

type FieldMethod = 'setHeader' | 'appendHeader' | 'removeHeader' | 'getHeader' | 'getHeaders'

type Method = (...args: unknown[]) => unknown

/** Calls a method of a response as it was before `replaceMethods`. */
export type CallOriginal = (method: MethodName, args: readonly unknown[]) => unknown

/**
 * Replaces methods of a response: `res.json`, `pipe` and `sendFile` end in these. Node's overloads say more
 * than a replacement can, so each gets its arguments as a list. The originals are those of the layers
 * outside, or Node's own.
 */
export function replaceMethods(res: ServerResponse, replacements: Partial<Record<MethodName, Method>>): CallOriginal {
  const all = res as Readonly<Record<MethodName, (...args: never[]) => unknown>>
  const { writeHead, write, end, flushHeaders, addTrailers, destroy } = all
  const { setHeader, appendHeader, removeHeader, getHeader, getHeaders } = all
  const ofFields = { setHeader, appendHeader, removeHeader, getHeader, getHeaders }
  const originals = { writeHead, write, end, flushHeaders, addTrailers, destroy, ...ofFields }
  assignMethods(res as unknown as Record<MethodName, Method>, replacements)
  return (method, args): unknown => Reflect.apply(originals[method], res, args)
}

/** One assignment a name: V8 takes a loop, or `Object.assign`, ten times as long. */
function assignMethods(res: Record<MethodName, Method>, given: Partial<Record<MethodName, Method>>): void {
  if (given.writeHead !== undefined) res.writeHead = given.writeHead
  if (given.write !== undefined) res.write = given.write
  if (given.end !== undefined) res.end = given.end
  if (given.flushHeaders !== undefined) res.flushHeaders = given.flushHeaders
  if (given.addTrailers !== undefined) res.addTrailers = given.addTrailers
  if (given.destroy !== undefined) res.destroy = given.destroy
  if (given.setHeader !== undefined) res.setHeader = given.setHeader
  if (given.appendHeader !== undefined) res.appendHeader = given.appendHeader
  if (given.removeHeader !== undefined) res.removeHeader = given.removeHeader
  if (given.getHeader !== undefined) res.getHeader = given.getHeader
  if (given.getHeaders !== undefined) res.getHeaders = given.getHeaders
}

/** Methods of Express, and of frameworks like it, that append by a read and a set. */
const APPENDING = ['append', 'links'] as const

export function replaceAppending(res: ServerResponse, around: (call: () => unknown) => unknown): void {
  for (const name of APPENDING) {
    const method: unknown = Reflect.get(res, name)
    if (typeof method === 'function')
      Reflect.set(res, name, (...args: unknown[]) => around(() => Reflect.apply(method, res, args) as unknown))
  }
}

/**
 * The methods that could still change a response after it is replaced; those that write it look at what
 * was replaced.
 */
const CHANGING = [
  'setHeader',
  'setHeaders',
  'appendHeader',
  'removeHeader',
  'writeContinue',
  'writeEarlyHints',
  'writeProcessing',
] as const

/** From the head on, these methods do nothing. */
export function ignoreOnceSent(res: ServerResponse): void {
  for (const name of CHANGING) {
    const method = res[name] as Method
    Reflect.set(res, name, (...args: unknown[]) => (isHeadSent(res) ? res : Reflect.apply(method, res, args)))
  }
}

/** Returns a function that gives these fields the values back that they have now. */
export function snapshotOf(
  res: ServerResponse,
  names: readonly string[],
  get: (name: string) => OutgoingHttpHeader | undefined,
  set: (name: string, value: unknown) => unknown,
): () => void {
  const before = names.map((name) => [name, toText(get(name))] as const)
  return () => {
    for (const [name, value] of before)
      if (value === undefined) res.removeHeader(name)
      else set(name, value)
  }
}
