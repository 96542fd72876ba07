import type { ServerResponse } from 'node:http'
import { queueOwnMicrotask } from '../../microtask.ts'
import { writeRefuses } from '../../fields/body-arguments.ts'
import { isEndedForNode } from '../../fields/response-state.ts'
import type { CallOriginal } from './response-methods.ts'

/**
 * Refuses what is written after the end of a response. Node emits an error for it until the response is
 * flushed, which ends the process where nobody listens, and over HTTP/2 cuts the response. Whether it is
 * flushed by then depends on the turn in which the handler runs, and the cache changes that.
 */
export function refusingAfterEnd(res: ServerResponse, call: CallOriginal): CallOriginal {
  return (method, args) => {
    if ((method !== 'write' && method !== 'end') || !isEndedForNode(res) || !hasChunk(method, args))
      return call(method, args)
    refuse(res, args)
    return method === 'end' ? res : false
  }
}

/** For a chunk that it never takes, `write` throws also after the end. */
function hasChunk(method: 'write' | 'end', args: readonly unknown[]): boolean {
  return method === 'write' ? !writeRefuses(args) : Boolean(args[0]) && typeof args[0] !== 'function'
}

function refuse(res: ServerResponse, args: readonly unknown[]): void {
  const error = Object.assign(new Error('write after end'), { code: 'ERR_STREAM_WRITE_AFTER_END' })
  const callback = args.find((argument) => typeof argument === 'function')
  queueOwnMicrotask(() => {
    if (callback !== undefined) Reflect.apply(callback, undefined, [error])
    if (res.listenerCount('error') > 0) res.emit('error', error)
  })
}
