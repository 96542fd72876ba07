import { expect, test } from '@jest/globals'
import { anotherClient, connectionOf } from '../../../src/node/subrequest/connection.ts'

const peer = {
  remoteAddress: '127.0.0.1',
  remotePort: 50_000,
  remoteFamily: 'IPv6',
  localAddress: '127.0.0.1',
  localPort: 80,
}

test('another client has another address, and the same server', () => {
  const connection = connectionOf({ httpVersionMajor: 1, socket: peer })
  const another = anotherClient(connection)
  expect(another).toMatchObject({
    isHttp2: false,
    peer: { localAddress: '127.0.0.1', localPort: 80, remoteAddress: '192.0.2.1', remoteFamily: 'IPv4' },
    tls: {},
  })
  expect(another.peer.remotePort).not.toBe(50_000)
})

test('another client over TLS shows no certificate', () => {
  const certificate = { subject: { CN: 'ann' } }
  const shown = {
    getPeerCertificate: () => certificate,
    getPeerX509Certificate: () => certificate,
    getProtocol: () => 'TLSv1.3',
  }
  const socket = { ...peer, encrypted: true, authorized: true, ...shown }
  const { tls } = anotherClient(connectionOf({ httpVersionMajor: 1, socket }))
  expect(tls).toMatchObject({ encrypted: true, authorized: false })
  expect((tls['getPeerCertificate'] as () => unknown)()).toEqual({})
  expect(tls['getPeerX509Certificate']).toBeUndefined()
  expect((tls['getProtocol'] as () => unknown)()).toBe('TLSv1.3')
})
