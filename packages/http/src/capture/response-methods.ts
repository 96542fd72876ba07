import type { ServerResponse } from 'node:http'

type MethodName =
  'writeHead' | 'write' | 'end' | 'flushHeaders' | 'addTrailers' | 'destroy' | 'setHeader' | 'appendHeader'

type Method = (...args: unknown[]) => unknown

/** Calls a method of a response as it was before `replaceMethods`. */
export type CallOriginal = (method: MethodName, args: readonly unknown[]) => unknown

/**
 * Replaces methods of a response: `res.json`, `pipe` and `sendFile` end in these. Node's overloads say more than a replacement can, so each
 * gets its arguments as a list. The originals are those of the layers outside, or Node's own.
 */
export function replaceMethods(res: ServerResponse, replacements: Partial<Record<MethodName, Method>>): CallOriginal {
  const { writeHead, write, end, flushHeaders, addTrailers, destroy, setHeader, appendHeader } = res as Readonly<
    Record<MethodName, (...args: never[]) => unknown>
  >
  const originals = { writeHead, write, end, flushHeaders, addTrailers, destroy, setHeader, appendHeader }
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
}
