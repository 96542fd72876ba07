import type { IncomingHttpHeaders } from 'node:http'
import { withoutBlanks } from './header-fields.ts'

/** Codings whose absence a client would notice; each more doubles the number of variants. */
const CODINGS = ['br', 'gzip', 'zstd']

/** What a request says in a field that chooses, in the one spelling of all values that mean the same. */
export function selectingValue(name: string, headers: IncomingHttpHeaders): string | undefined {
  // The names are an answer's: `constructor` is on every object.
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined
  if (value === undefined) return undefined
  const text = String(value).split(',').map(withoutBlanks).join(', ')
  if (name === 'accept-encoding') return reduceEncoding(text)
  return name === 'accept-language' ? text.toLowerCase() : text
}

/** The sorted codings that this client takes, of those that matter: so there are few of them. `identity` where there is none. */
export function reduceEncoding(accepted: string): string {
  const taken = new Map(
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
  const wanted = CODINGS.filter((coding) => taken.get(coding) ?? taken.get('*') ?? false)
  return wanted.length === 0 ? 'identity' : wanted.join(', ')
}
