import { describe, expect, test } from '@jest/globals'
import { connectionOf } from '../../../src/node/subrequest/connection.ts'
import { NullSocket, NullStream } from '../../../src/node/subrequest/null-socket.ts'

const peer = {
  remoteAddress: '192.0.2.7',
  remotePort: 4711,
  localAddress: '192.0.2.1',
  localPort: 443,
  localFamily: 'IPv4',
}

/** The connection of a client as Node shows it. */
class Connection {
  readonly encrypted?: boolean = true
  readonly authorized: boolean = true
  readonly alpnProtocol: string = 'http/1.1'
  readonly #subject = 'client 7'

  constructor() {
    Object.assign(this, peer)
  }

  getPeerCertificate(): object {
    return { subject: this.#subject }
  }
}

describe('the socket of a subrequest', () => {
  test.each([
    ['over HTTP/1.1', NullSocket, 1],
    ['over HTTP/2', NullStream, 2],
  ] as const)('shows what the connection of the client shows, %s', (_version, Socket, httpVersionMajor) => {
    const socket = new Socket(connectionOf({ httpVersionMajor, socket: new Connection() }), true)
    expect(socket).toMatchObject({ ...peer, encrypted: true, authorized: true, alpnProtocol: 'http/1.1' })
    expect(Reflect.apply(Reflect.get(socket, 'getPeerCertificate') as () => object, socket, [])).toEqual({
      subject: 'client 7',
    })
    expect(socket.address()).toEqual({ address: '192.0.2.1', family: 'IPv4', port: 443 })
  })

  test('shows no certificate where the connection has no TLS', () => {
    const socket = new NullSocket(connectionOf({ httpVersionMajor: 1, socket: peer }), true)
    expect(['getPeerCertificate' in socket, 'authorized' in socket]).toEqual([false, false])
  })

  test('is open until it is destroyed', () => {
    const socket = new NullSocket(connectionOf({ httpVersionMajor: 1 }), false)
    const states = [socket.readyState, socket.resetAndDestroy().readyState]
    expect([...states, socket.connecting, socket.pending]).toEqual(['open', 'closed', false, false])
  })
})
