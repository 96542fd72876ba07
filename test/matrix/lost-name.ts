import dns, { type LookupAddress, type LookupOptions } from 'node:dns'

/** A name that no resolver knows: it means this machine in a process that has learnt it, until it is lost. */
export const REDIS_NAME = 'redis.matrix.test'

type Found = (error: NodeJS.ErrnoException | null, address?: string | LookupAddress[], family?: number) => void

const real = dns.lookup
const realPromise = dns.promises.lookup
const notFound = Object.assign(new Error(`getaddrinfo ENOTFOUND ${REDIS_NAME}`), { code: 'ENOTFOUND' })
let lost = false

function lookup(name: string, options: LookupOptions, found: Found): void {
  if (name === REDIS_NAME && lost) setImmediate(found, notFound)
  else real(name === REDIS_NAME ? '127.0.0.1' : name, options, found)
}

async function lookupPromise(name: string, options: LookupOptions): Promise<LookupAddress | LookupAddress[]> {
  if (name === REDIS_NAME && lost) throw notFound
  return await realPromise(name === REDIS_NAME ? '127.0.0.1' : name, options)
}

/** Sockets look `dns.lookup` up for each connection; a node-redis client of its own accord asks the other way too. */
export function learnName(): void {
  Object.assign(dns, { lookup })
  Object.assign(dns.promises, { lookup: lookupPromise })
}

export function loseName(gone: boolean): void {
  lost = gone
}
