import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { describe, expect, test } from '@jest/globals'
import { DestroyGuard } from '../../../src/node/capture/destroy-guard.ts'

/** A request and its response on one socket, behind a guard that notes each `destroy`. */
function guarded() {
  const socket = new Socket()
  const req = new IncomingMessage(socket)
  const res = new ServerResponse(req)
  res.assignSocket(socket)
  const caught: (() => void)[] = []
  const guard = new DestroyGuard(res, (destroy) => caught.push(destroy))
  return { socket, req, res, guard, caught }
}

describe('a connection behind a destroy guard', () => {
  test('is the same for the request and the response, and so are its methods', () => {
    const { req, res, socket } = guarded()
    expect(req.socket === res.socket).toBe(true)
    for (const name of ['write', 'destroy', 'on'] as const) expect(req.socket[name] === req.socket[name]).toBe(true)
    expect(req.socket.constructor).toBe(Socket)
    expect(req.socket instanceof Socket && req.socket !== socket).toBe(true)
  })

  test('stays behind it where a method returns it', () => {
    const { req, socket, caught } = guarded()
    expect(req.socket.setTimeout(0).on('close', () => undefined) === req.socket).toBe(true)
    req.socket.setTimeout(0).destroy()
    expect([socket.destroyed, caught.length]).toEqual([false, 1])
    caught[0]?.()
    expect(socket.destroyed).toBe(true)
  })

  test('is destroyed by a method that was read before the guard was disabled', () => {
    const { req, res, socket, guard, caught } = guarded()
    const connection = req.socket
    const { destroy } = connection
    guard.disable()
    expect([req.socket === socket, res.socket === socket]).toEqual([true, true])
    Reflect.apply(destroy, connection, [])
    expect([socket.destroyed, caught]).toEqual([true, []])
  })
})
