import { connect } from 'node:net'
import { hearLines } from './lines.ts'

/** The source has no such key. */
class NotFoundError extends Error {
  override readonly name = 'NotFoundError'
}

export interface SourceClient {
  /** `signal`: gives up, and tells the source. */
  load(rank: number, signal?: AbortSignal): Promise<void>
  close(): void
}

interface Waiting {
  resolve(): void
  reject(error: Error): void
}

/** A client with one connection, as a driver's pool is one to its callers. */
export async function sourceClient(port: number): Promise<SourceClient> {
  const socket = connect(port, '127.0.0.1')
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject))
  const waiting = new Map<string, Waiting>()
  let asked = 0
  hearLines(socket, (line) => {
    const [id = '', found] = line.split(' ')
    const one = waiting.get(id)
    waiting.delete(id)
    if (found === '1') one?.resolve()
    else one?.reject(new NotFoundError('404'))
  })
  const load = (rank: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const id = String((asked += 1))
      const giveUp = (): void => {
        if (waiting.delete(id)) socket.write(`drop ${id}\n`)
        reject(signal?.reason as Error)
      }
      signal?.addEventListener('abort', giveUp, { once: true })
      waiting.set(id, { resolve, reject })
      socket.write(`load ${id} ${rank}\n`)
    })
  return { load, close: () => socket.destroy() }
}
