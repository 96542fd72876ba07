/** The fields of a message as in `rawHeaders`: name, value, name, value, and so on. */
export type RawFields = readonly string[]

/** These concern one connection, whether or not `Connection` names them (RFC 9110 section 7.6.1). */
const HOP_BY_HOP = ['connection', 'proxy-connection', 'keep-alive', 'te', 'transfer-encoding', 'upgrade']

/** A message needs these: a sender that names one of them in `Connection` is mistaken or malicious. */
const INDISPENSABLE = new Set(['host', 'content-length'])

/** The fields for the next hop, with this proxy added to `Via` (RFC 9110 section 7.6.3). */
export function fieldsForNextHop(raw: RawFields, httpVersion: string): string[] {
  const stop = new Set([...HOP_BY_HOP, ...namedByConnection(raw)])
  const kept = pairsOf(raw).filter(([name]) => !stop.has(name.toLowerCase()))
  return [...kept.flat(), 'Via', `${httpVersion} cattlegrid`]
}

function namedByConnection(raw: RawFields): readonly string[] {
  return pairsOf(raw)
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.toLowerCase().split(','))
    .map((name) => name.trim())
    .filter((name) => !INDISPENSABLE.has(name))
}

export function pairsOf(raw: RawFields): readonly (readonly [string, string])[] {
  return Array.from(
    { length: raw.length >> 1 },
    (_, index) => [raw[2 * index] ?? '', raw[2 * index + 1] ?? ''] as const,
  )
}
