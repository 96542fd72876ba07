// A process of the fleet: it loads one example at a time and asks it, by the commands of its parent.
import { subscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { createServer, request, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export type Command =
  | { readonly do: 'open'; readonly example: string }
  | { readonly do: 'read'; readonly id: string; readonly callers: number }
  | { readonly do: 'read-many'; readonly ids: string[] }
  | { readonly do: 'change'; readonly id: string; readonly price: number }

/** An example is a pair of functions, or an application whose routes do the same. */
type Example =
  | { readonly readProduct: Read; readonly readProducts?: ReadMany; readonly changePrice: Change }
  | { readonly app: RequestListener; readonly readProduct?: undefined }
type Read = (id: string) => Promise<unknown>
type ReadMany = (ids: string[]) => Promise<unknown>
type Change = (id: string, price: number) => Promise<void>

/** What callers got, and whether a load ran without a lease: while its store is away, each process loads for itself. */
export interface Answers {
  readonly values: readonly unknown[]
  readonly alone: boolean
}

let loadsAlone = 0
subscribe('cattlegrid:load', (event) => {
  if (!(event as { readonly leased: boolean }).leased) loadsAlone += 1
})

let server: Server | undefined
let read: Read = async () => undefined
let readMany: ReadMany = async () => undefined
let change: Change = async () => undefined

async function open(name: string): Promise<void> {
  const example = (await import(`../${name}.ts`)) as Example
  if (example.readProduct !== undefined) {
    read = example.readProduct
    readMany = example.readProducts ?? (async () => undefined)
    change = example.changePrice
    return
  }
  server?.close()
  server = createServer(example.app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  read = (id) => send('GET', `/products/${id}`)
  change = async (id, price) => void (await send('PUT', `/products/${id}`, { price }))
}

/** Asks the server of this process, under the name that clients know: the host is part of a key. */
async function send(method: string, path: string, body?: object): Promise<unknown> {
  if (server === undefined) throw new Error('no example is open')
  const { port } = server.address() as AddressInfo
  const headers = { host: 'shop.example', 'content-type': 'application/json' }
  const sent = request({ host: '127.0.0.1', port, method, path, headers, agent: false })
  sent.end(JSON.stringify(body))
  const [response] = await once(sent, 'response')
  const content = await text(response)
  if (response.statusCode >= 400) throw new Error(String(response.statusCode))
  return content === '' ? 'an empty response' : JSON.parse(content)
}

async function obey(command: Command): Promise<unknown> {
  if (command.do === 'open') return open(command.example)
  if (command.do === 'read-many') return readMany(command.ids)
  if (command.do === 'change') return change(command.id, command.price)
  const before = loadsAlone
  const calls = await Promise.allSettled(Array.from({ length: command.callers }, () => read(command.id)))
  const values = calls.map((call) => (call.status === 'fulfilled' ? (call.value ?? 'undefined') : 'an error'))
  return { values, alone: loadsAlone > before } satisfies Answers
}

process.on('message', ({ number, command }: { number: number; command: Command }) => {
  obey(command).then(
    (value) => process.send?.({ number, value }),
    (error: unknown) => process.send?.({ number, error: String(error) }),
  )
})
