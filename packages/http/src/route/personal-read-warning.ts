import { PERSONAL_NAMES, type PersonalRead } from '../request/client-reads.ts'

/** Warns once that the responses of a route are not stored because its handler reads who its client is. */
export class PersonalReadWarning {
  #given = false

  /** `target`: the URL of the request. */
  give({ name, expression, position }: PersonalRead, target: string): void {
    if (this.#given) return
    this.#given = true
    const [path] = target.split('?')
    process.emitWarning(
      `The handler of ${path} reads ${expression}, in ${position}. Its response is therefore its own client's, and is not stored. ` +
        `${cureOf(name)} If only the code that identifies the client reads it, ` +
        'run that code before the cache: in a middleware before cached(), a hook or a guard.',
      { type: 'CattlegridWarning', code: 'CATTLEGRID_PERSONAL_READ' },
    )
  }
}

function cureOf(name: string): string {
  // What only the objects of one framework have.
  if (!PERSONAL_NAMES.includes(name))
    return 'No option allows this read: let the handler read what it needs from the URL, or from a field in the key (key.headers).'
  return (
    `If every client gets the same response, allow the read: allowReads: ['${name}']. If the response depends on the client, ` +
    'put what it depends on into the key (key.cookies, key.headers or key.extra) and then allow the read.'
  )
}
