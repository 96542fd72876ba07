import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'

/** One mistake in the use of the library, as a user would write it, and what says so. */
export interface Misuse {
  /** A sentence: what the user wrote. */
  readonly title: string
  /** What is said: the mistake and the cure, in the message of the error, or of the one warning. */
  readonly says: RegExp
  /** The `code` of the error or of the warning. A row that Node or the framework answers has theirs. */
  readonly code?: string
  /** `thrown`: by the call that is wrong. `warned`: once, however often it is played; nothing else changes. */
  readonly how: 'thrown' | 'warned'
  /** TypeScript refuses the line below each `@ts-expect-error`: these rows are for JavaScript. */
  play(): unknown
}

const OPTION = 'CATTLEGRID_INVALID_OPTION'

/** A mistake that is refused where it is made. */
export function refused(title: string, says: RegExp, play: () => unknown, code: string = OPTION): Misuse {
  return { title, says, code, how: 'thrown', play }
}

/** A mistake that shows only later, and is told once. */
export function warned(title: string, code: string, says: RegExp, play: () => unknown): Misuse {
  return { title, says, code, how: 'warned', play }
}

/** Makes a test of each row: the mistake is said exactly once, by its name and with its cure. */
export function describeMisuses(what: string, misuses: readonly Misuse[]): void {
  describe(what, () => {
    let warnings: { readonly code: unknown; readonly message: string }[]

    beforeEach(() => {
      warnings = []
      const note = (message: string | Error, options?: unknown): void => {
        const { code, type } = (options ?? {}) as { readonly code?: unknown; readonly type?: unknown }
        if (type === 'CattlegridWarning') warnings.push({ code, message: String(message) })
      }
      jest.spyOn(process, 'emitWarning').mockImplementation(note)
    })
    afterEach(() => {
      jest.restoreAllMocks()
    })

    test.each(misuses.map((misuse) => [misuse.title, misuse] as const))('%s', async (_, { says, code, how, play }) => {
      const thrown: unknown = await Promise.resolve()
        .then(play)
        .then(() => undefined)
        .catch((error: unknown) => error)
      const message: unknown = expect.stringMatching(says)
      const error = code === '' ? { message } : { message, code }
      const said = how === 'warned' ? { thrown: undefined, warnings: [{ code, message }] } : { thrown: error }
      expect({ thrown, warnings }).toMatchObject(said)
    })
  })
}
