import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** Stands between a client and a server, and counts how often the client spoke after the server had: round trips. */
export interface Relay {
  readonly url: string
  readonly roundTrips: number
  close(): Promise<void>
}

/** `delay`: of what the server says, ms. */
export async function startRelay(port: number, delay = 0): Promise<Relay> {
  let roundTrips = 0
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1')
    let answered = true
    for (const socket of [client, upstream]) {
      sockets.add(socket.setNoDelay())
      socket.on('error', () => undefined).on('close', () => (client.destroy(), upstream.destroy()))
    }
    client.on('data', (chunk) => {
      if (answered) roundTrips += 1
      answered = false
      upstream.write(chunk)
    })
    upstream.on('data', (chunk) => {
      answered = true
      if (delay === 0) client.write(chunk)
      else setTimeout(() => client.write(chunk), delay)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get roundTrips() {
      return roundTrips
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
