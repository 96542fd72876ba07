import type { ServerResponse } from 'node:http'

type MethodName =
  'writeHead' | 'write' | 'end' | 'flushHeaders' | 'addTrailers' | 'destroy' | 'setHeader' | 'appendHeader'

/** Calls a method of a response as it was before `replaceMethods`. */
export type CallOriginal = (method: MethodName, args: readonly unknown[]) => unknown

/**
 * Replaces methods of a response: `res.json`, `pipe` and `sendFile` end in these. Node's overloads say more than a replacement can, so each
 * gets its arguments as a list. The originals are those of the layers outside, or Node's own.
 */
export function replaceMethods(
  res: ServerResponse,
  replacements: Partial<Record<MethodName, (...args: unknown[]) => unknown>>,
): CallOriginal {
  const { writeHead, write, end, flushHeaders, addTrailers, destroy, setHeader, appendHeader } = res as Readonly<
    Record<MethodName, (...args: never[]) => unknown>
  >
  const originals = { writeHead, write, end, flushHeaders, addTrailers, destroy, setHeader, appendHeader }
  Object.assign(res, replacements)
  return (method, args): unknown => Reflect.apply(originals[method], res, args)
}
