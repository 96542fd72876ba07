// The clients: many connections that are open already, and one request on each at the same moment.
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { connect, type Socket } from 'node:net'
import autocannon from 'autocannon'
import { at } from '../run/figure.ts'
import { serveAsMember } from '../run/member.ts'

const FEW = 200

interface Got {
  readonly status: number
  readonly took: number
}

/** Rejects never: a connection that breaks counts as status 0. */
function ask(url: string, agent: Agent): Promise<Got> {
  const began = performance.now()
  return new Promise((resolve) => {
    const end = (status: number): void => resolve({ status, took: performance.now() - began })
    // One name for all processes, as behind a load balancer: the port is part of what a URL means.
    const request = get(url, { agent, timeout: 10_000, headers: { host: 'shop.test' } }, (response) => {
      response.resume()
      response.on('end', () => end(response.statusCode ?? 0)).on('error', () => end(0))
    })
    request.on('error', () => end(0)).on('timeout', () => request.destroy())
  })
}

/** ms until the whole answer is there. The server closes the connection behind it. */
async function askOn(socket: Socket, path: string): Promise<number> {
  const began = performance.now()
  socket.resume().end(`GET ${path} HTTP/1.1\r\nHost: shop.test\r\nConnection: close\r\n\r\n`)
  await once(socket, 'end')
  return performance.now() - began
}

serveAsMember({
  /** Connects all clients, and then asks once on each connection at the same moment: the server has answered nothing before. */
  async first(port: number, path: string, clients: number) {
    const sockets = Array.from({ length: clients }, () => connect(port, '127.0.0.1'))
    await Promise.all(sockets.map((socket) => once(socket, 'connect')))
    const asked = await Promise.all(sockets.map((socket) => askOn(socket, path)))
    const times = asked.toSorted((one, other) => one - other)
    return { p50: at(times, 0.5), p99: at(times, 0.99) }
  },
  async herd(ports: readonly number[], path: string, clients: number) {
    const agent = new Agent({ keepAlive: true, maxSockets: Math.ceil(clients / ports.length), scheduling: 'fifo' })
    const each = async (where: string): Promise<Got[]> =>
      await Promise.all(
        Array.from({ length: clients }, (_, index) =>
          ask(`http://127.0.0.1:${ports[index % ports.length]}${where}`, agent),
        ),
      )
    await each('/ping')
    const got = await each(path)
    agent.destroy()
    const times = got.map(({ took }) => took).toSorted((one, other) => one - other)
    const ok = got.filter(({ status }) => status === 200).length
    const timedOut = got.filter(({ status }) => status === 0).length
    return { p50: at(times, 0.5), p99: at(times, 0.99), ok, errors: got.length - ok - timedOut, timedOut }
  },
  /** As fast as it goes for so many seconds (less than one: for a few requests), where no other generator of load is installed. */
  async load(url: string, connections: number, seconds: number) {
    const { requests, non2xx, errors, duration } = await autocannon({
      url,
      connections,
      ...(seconds < 1 ? { amount: FEW, sampleInt: 100 } : { duration: seconds }),
    })
    return { count: requests.total, rate: requests.total / duration, wrong: non2xx + errors }
  },
  /** One request after the other for each of the paths, from so many connections. */
  async paths(port: number, prefix: string, count: number, connections: number) {
    const agent = new Agent({ keepAlive: true, maxSockets: connections })
    const began = performance.now()
    let next = 0
    const client = async (): Promise<void> => {
      while (next < count) {
        next += 1
        await ask(`http://127.0.0.1:${port}${prefix}${next}`, agent)
      }
    }
    await Promise.all(Array.from({ length: connections }, client))
    agent.destroy()
    return performance.now() - began
  },
})
