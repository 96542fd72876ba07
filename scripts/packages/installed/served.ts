import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

type Fetch = (request: Request) => Response | Promise<Response>

/** A server of this runtime. */
export interface Served {
  readonly origin: string
  stop(): Promise<void>
}

const on = { hostname: '127.0.0.1', port: 0 }

declare const Bun:
  | {
      serve(options: typeof on & { fetch: Fetch }): { port: number; stop(closeActive: boolean): Promise<void> }
    }
  | undefined

declare const Deno:
  | {
      serve(options: typeof on, fetch: Fetch): { addr: { port: number }; shutdown(): Promise<void> }
    }
  | undefined

/** Serves by what the runtime has. */
export async function served(fetch: Fetch): Promise<Served> {
  if (typeof Bun !== 'undefined') {
    const server = Bun.serve({ ...on, fetch })
    return { origin: originOf(server.port), stop: () => server.stop(true) }
  }
  if (typeof Deno !== 'undefined') {
    const server = Deno.serve(on, fetch)
    return { origin: originOf(server.addr.port), stop: () => server.shutdown() }
  }
  return await servedByNode(fetch)
}

async function servedByNode(fetch: Fetch): Promise<Served> {
  const server = createServer((incoming, outgoing) => {
    void Promise.resolve(fetch(new Request(`http://${incoming.headers.host}${incoming.url}`))).then(
      async (response) => {
        outgoing.writeHead(response.status, Object.fromEntries(response.headers))
        outgoing.end(await response.text())
      },
      (error: unknown) => outgoing.destroy(error as Error),
    )
  })
  server.listen(on.port, on.hostname)
  await once(server, 'listening')
  const stop = async (): Promise<void> => {
    server.close()
    server.closeAllConnections()
  }
  return { origin: originOf((server.address() as AddressInfo).port), stop }
}

function originOf(port: number): string {
  return `http://${on.hostname}:${port}`
}
