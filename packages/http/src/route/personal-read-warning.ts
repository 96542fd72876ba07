import type { PersonalRead } from '../request/personal-reads.ts'

/** Warns once that the responses of a route are not stored because its handler reads who its client is. */
export class PersonalReadWarning {
  #given = false

  /** `target`: the URL of the request. */
  give({ name, expression, place }: PersonalRead, target: string): void {
    if (this.#given) return
    this.#given = true
    const [path] = target.split('?')
    process.emitWarning(
      `The handler of ${path} reads ${expression}, in ${place}. Its response is therefore its own client's: it is not stored. Put what the ` +
        'response depends on into the key, with key.cookies or key.headers; or run the middleware that asks for the client before cached(); ' +
        `or, where every client gets the same response, allow the read: allowReads: ['${name}'].`,
      { type: 'CattlegridWarning', code: 'CATTLEGRID_PERSONAL_READ' },
    )
  }
}
