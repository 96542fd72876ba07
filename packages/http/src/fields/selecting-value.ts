import type { IncomingHttpHeaders } from 'node:http'
import { withoutBlanks } from './header-fields.ts'

/** The codings that make variants; each one doubles their number. */
const CODINGS = ['br', 'gzip', 'zstd']

/** The value of a selecting request field (RFC 9111 section 4.1), normalised so that equivalent values are equal. */
export function selectingValue(name: string, headers: IncomingHttpHeaders): string | undefined {
  const received = receivedValue(name, headers)
  if (received === undefined) return undefined
  const text = received.split(',').map(withoutBlanks).join(', ')
  if (name === 'accept-encoding') return reduceEncoding(text)
  return name === 'accept-language' ? text.toLowerCase() : text
}

/** The value of a request field as it came; several lines are joined. */
export function receivedValue(name: string, headers: IncomingHttpHeaders): string | undefined {
  // The name may come from a response: `constructor` is on every object.
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined
  return value === undefined ? undefined : String(value)
}

/** The codings among `CODINGS` that the client accepts, sorted; where there is none, `deflate` if it is accepted by name, else `identity`. */
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
