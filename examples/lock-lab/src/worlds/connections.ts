import { createClient } from 'redis'
import type { Name } from '../caller.ts'

export type Client = Awaited<ReturnType<typeof connect>>

/** The three callers' connections, and the lab's own, which stands for time and fate. */
export class Connections {
  #clients: Record<Name | 'lab', Client>

  private constructor(clients: Record<Name | 'lab', Client>) {
    this.#clients = clients
  }

  static async open(url: string): Promise<Connections> {
    return new Connections(await connectAll(url))
  }

  of(name: Name | 'lab'): Client {
    return this.#clients[name]
  }

  /** Connects everybody again, to the same server or another. */
  async moveTo(url: string): Promise<void> {
    this.close()
    this.#clients = await connectAll(url)
  }

  /** Lets the callers' last commands be answered and allows no more, also where a play still goes on. */
  async silenceCallers(): Promise<void> {
    const { A, B, C } = this.#clients
    await Promise.all([A, B, C].map(async (client) => await client.close()))
  }

  close(): void {
    for (const client of Object.values(this.#clients)) if (client.isOpen) client.destroy()
  }
}

async function connectAll(url: string): Promise<Record<Name | 'lab', Client>> {
  const [A, B, C, lab] = await Promise.all([connect(url), connect(url), connect(url), connect(url)])
  return { A, B, C, lab }
}

/** A client as a user makes it. */
export async function connect(url: string) {
  const client = createClient({ url })
  // A server that is killed is part of the lab.
  client.on('error', () => undefined)
  await client.connect()
  return client
}
