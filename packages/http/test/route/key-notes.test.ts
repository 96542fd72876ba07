import { describe, expect, test } from '@jest/globals'
import { NoSharedResult, isNoSharedResult } from '../../src/response/errors.ts'
import { KeyNotes } from '../../src/route/key-notes.ts'

const MINUTE = 60_000

/** Notes, and the same ones so many ms after they were made. */
function notesAt(): { readonly notes: KeyNotes; readonly at: (time: number) => KeyNotes } {
  let elapsed = 1000
  const notes = new KeyNotes({ elapsed: () => elapsed })
  const at = (time: number): KeyNotes => {
    elapsed = 1000 + time
    return notes
  }
  return { notes, at }
}

test.each(['no-freshness', 'no-store', 'private', 'no-cache'])(
  'a response that says by %s that its URL is not stored counts for ten minutes',
  (why) => {
    const { notes, at } = notesAt()
    notes.noteResponse('k', why)
    expect(notes.isUnstored('other')).toBe(false)
    expect([at(9 * MINUTE).isUnstored('k'), at(10 * MINUTE).isUnstored('k')]).toEqual([true, false])
  },
)

test.each(['set-cookie', 'personal', 'status', 'too-large', 'unleased'])(
  'a response that is not stored because of %s says nothing of its URL',
  (why) => {
    const { notes } = notesAt()
    notes.noteResponse('k', why)
    expect(notes.isUnstored('k')).toBe(false)
  },
)

test('a response that is stored ends it', () => {
  const { notes, at } = notesAt()
  notes.noteResponse('k', 'no-store')
  at(1).noteResponse('k', undefined)
  expect(at(2).isUnstored('k')).toBe(false)
})

test('the latest 1,000 keys whose subrequest brought nothing are remembered, at most twice as many, and none whose subrequest failed', async () => {
  const notes = new KeyNotes({ elapsed: () => 0 })
  const sent: string[] = []
  const ask = async (key: string, error: Error = new NoSharedResult('its answer cannot be stored')): Promise<unknown> =>
    await notes
      .sendUnlessFailed(key, () => {
        sent.push(key)
        return Promise.reject(error)
      })
      .catch((reason: unknown) => isNoSharedResult(reason))
  expect(await ask('failed', new Error('closed'))).toBe(false)
  for (let index = 1; index <= 2001; index += 1) expect(await ask(`key ${index}`)).toBe(true)
  sent.length = 0
  for (const key of ['key 1002', 'key 2001', 'key 1', 'failed']) expect(await ask(key)).toBe(true)
  expect(sent).toEqual(['key 1', 'failed'])
})

describe('the releases of a key', () => {
  test('are known to requests that waited at the time, and not to later ones', () => {
    const releases = new KeyNotes({ elapsed: () => 0 })
    const early = releases.latestRelease
    releases.noteRelease('a')
    const late = releases.latestRelease
    expect([
      releases.isReleasedAfter('a', early),
      releases.isReleasedAfter('b', early),
      releases.isReleasedAfter('a', late),
    ]).toEqual([true, false, false])
  })

  test('are remembered for the latest 1,000 keys, and for at most twice as many', () => {
    const releases = new KeyNotes({ elapsed: () => 0 })
    for (let key = 1; key <= 3000; key += 1) releases.noteRelease(`${key}`)
    expect(['1', '1000', '2001', '3000'].map((key) => releases.isReleasedAfter(key, 0))).toEqual([
      false,
      false,
      true,
      true,
    ])
  })
})
