import type { IncomingHttpHeaders } from 'node:http'

/** The codings that make variants; each one doubles their number. */
const CODINGS = ['br', 'gzip', 'zstd']

/**
 * The value of a request field in a key (RFC 9111 section 4.1): as it came, because only its handler knows
 * which values are equivalent. `Accept-Encoding` is reduced, as handlers see it.
 */
export function selectingValue(name: string, headers: IncomingHttpHeaders): string | undefined {
  const received = receivedValue(name, headers)
  return name === 'accept-encoding' && received !== undefined ? reduceEncoding(received) : received
}

/** The value of a request field as it came; several lines are joined. */
export function receivedValue(name: string, headers: IncomingHttpHeaders): string | undefined {
  // The name may come from a response: `constructor` is on every object.
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined
  return value === undefined ? undefined : String(value)
}

/**
 * The codings among `CODINGS` that the client accepts, sorted; where there is none, `deflate` if it is
 * accepted by name, else `identity`.
 */
export function reduceEncoding(accepted: string): string {
  const isAccepted = new Map(
    accepted
      .toLowerCase()
      .split(',')
      .map((member) => {
        const [coding = '', ...parameters] = member.split(';').map((text) => text.trim())
        return [
          coding === 'x-gzip' ? 'gzip' : coding,
          !parameters.some((text) => /^q\s*=\s*0(?:\.0*)?$/.test(text)),
        ] as const
      }),
  )
  const wanted = CODINGS.filter((coding) => isAccepted.get(coding) ?? isAccepted.get('*') ?? false)
  if (wanted.length > 0) return wanted.join(', ')
  return isAccepted.get('deflate') === true ? 'deflate' : 'identity'
}
