import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { describe, expect, test } from '@jest/globals'
import { ConnectionShield } from '../src/capture/connection-shield.ts'

/** A request and its response on one socket, behind a shield that notes each `destroy`. */
function shielded() {
  const socket = new Socket()
  const req = new IncomingMessage(socket)
  const res = new ServerResponse(req)
  res.assignSocket(socket)
  const caught: (() => void)[] = []
  const shield = new ConnectionShield(res, (destroy) => caught.push(destroy))
  return { socket, req, res, shield, caught }
}

describe('a connection behind a shield', () => {
  test('is the same for the request and the response, and so are its methods', () => {
    const { req, res, socket } = shielded()
    expect(req.socket === res.socket).toBe(true)
    for (const name of ['write', 'destroy', 'on'] as const) expect(req.socket[name] === req.socket[name]).toBe(true)
    expect(req.socket.constructor).toBe(Socket)
    expect(req.socket instanceof Socket && req.socket !== socket).toBe(true)
  })

  test('stays behind it where a method returns it', () => {
    const { req, socket, caught } = shielded()
    expect(req.socket.setTimeout(0).on('close', () => undefined) === req.socket).toBe(true)
    req.socket.setTimeout(0).destroy()
    expect([socket.destroyed, caught.length]).toEqual([false, 1])
    caught[0]?.()
    expect(socket.destroyed).toBe(true)
  })

  test('is destroyed by a method that was read before the shield was lowered', () => {
    const { req, res, socket, shield, caught } = shielded()
    const connection = req.socket
    const { destroy } = connection
    shield.lower()
    expect([req.socket === socket, res.socket === socket]).toEqual([true, true])
    Reflect.apply(destroy, connection, [])
    expect([socket.destroyed, caught]).toEqual([true, []])
  })
})
