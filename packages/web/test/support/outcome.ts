/** What a client sees of a response; `error`: its handler, or its body, has failed. */
export interface Outcome {
  readonly status?: number
  readonly fields?: Readonly<Record<string, string>>
  readonly cookies?: readonly string[]
  readonly body?: string
  readonly error?: string
}

/** Fields that a cache adds or replaces (RFC 9111 sections 3.1 and 5), or that hosts make of the body. */
const OF_THE_CACHE = ['age', 'date', 'cache-status', 'content-length', 'connection', 'keep-alive', 'transfer-encoding']

/** Reads a response to its end, as a host does: of its body it takes bytes and strings. `without`: its fields. */
export async function outcomeOf(
  respond: () => Response | Promise<Response>,
  without: readonly string[] = [],
): Promise<Outcome> {
  try {
    const response = await respond()
    const { status, headers } = response
    const body = await bytesOf(response)
    const ignored = ['set-cookie', ...OF_THE_CACHE, ...without]
    const fields = Object.fromEntries([...headers].filter(([name]) => !ignored.includes(name)))
    return { status, fields, cookies: headers.getSetCookie(), body: body.toString('latin1') }
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) }
  }
}

async function bytesOf({ body }: Response): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}
