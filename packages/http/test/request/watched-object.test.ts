import { describe, expect, test } from '@jest/globals'
import { watchObject } from '../../src/request/watched-object.ts'

/** Watches `user` of the object, and notes the values that were read. */
function watching(object: object) {
  const reads: unknown[] = []
  const observer = {
    onRead: (_: string, value: unknown): unknown => {
      reads.push(value)
      return value
    },
    onAssign: () => {},
  }
  const watched = watchObject(object, ['user'], observer)
  return { reads, unwatched: () => watched.unwatched(observer), stop: () => watched.stop(observer) }
}

describe('a watched property', () => {
  test('reports each read with its value, until its observer stops', () => {
    const object = { user: 'ann' }
    const { reads, stop } = watching(object)
    expect([object.user, { ...object }]).toEqual(['ann', { user: 'ann' }])
    stop()
    expect([object.user, reads]).toEqual(['ann', ['ann', 'ann']])
  })

  test('that its object lacks is not enumerable', () => {
    const object: { readonly user?: string } = {}
    const { reads } = watching(object)
    expect([object.user, Object.keys(object), JSON.stringify(object)]).toEqual([undefined, [], '{}'])
    expect(reads).toEqual([undefined])
  })

  test.each([
    ['while it is watched', false],
    ['afterwards', true],
  ])('takes an assignment %s, and is enumerable from then on', (_case, after) => {
    const object: { user?: string } = {}
    const { stop } = watching(object)
    if (after) stop()
    object.user = 'bob'
    stop()
    expect(object).toEqual({ user: 'bob' })
  })

  test('goes through the accessors of its object, own or inherited', () => {
    class Session {
      #user = 'ann'
      get user(): string {
        return this.#user
      }
      set user(user: string) {
        this.#user = user.toUpperCase()
      }
    }
    const object = new Session()
    watching(object)
    object.user = 'bob'
    expect(object.user).toBe('BOB')
  })

  test.each([
    [
      'has only a getter',
      {
        get user() {
          return null
        },
      },
      null,
    ],
    ['is read-only', Object.defineProperty({}, 'user', { value: 'ann', configurable: true }), 'ann'],
    [
      'inherits a getter alone',
      Object.create({
        get user() {
          return 'ann'
        },
      }) as object,
      'ann',
    ],
  ])('of an object that %s keeps its value', (_case, object: { user?: unknown }, value) => {
    watching(object)
    object.user = 'bob'
    expect(object.user).toBe(value)
  })

  test('is read and assigned through a proxy of its object, and reported', () => {
    const object: { user?: string } = {}
    const { reads } = watching(object)
    const proxy = new Proxy(object, {})
    proxy.user = 'bob'
    expect([proxy.user, object.user, reads]).toEqual(['bob', 'bob', ['bob', 'bob']])
  })

  test('of an heir is reported; an assignment there leaves its object alone', () => {
    const object = { user: 'ann' }
    const { reads } = watching(object)
    const heir = Object.create(object) as { user: string }
    expect(heir.user).toBe('ann')
    heir.user = 'bob'
    expect([heir.user, object.user, reads]).toEqual(['bob', 'ann', ['ann', 'ann']])
  })

  test('is reported for its object and for an heir that is watched, too', () => {
    const object = { user: 'ann' }
    const heir = Object.create(object) as { user: string }
    const [outer, inner] = [watching(object), watching(heir)]
    expect(heir.user).toBe('ann')
    heir.user = 'bob'
    expect([heir.user, object.user]).toEqual(['bob', 'ann'])
    expect([outer.reads, inner.reads]).toEqual([
      ['ann', 'ann'],
      ['ann', 'bob'],
    ])
  })

  test('reports to each of several observers until that one stops, in whatever order they do', () => {
    const object = { user: 'ann' }
    const [outer, inner] = [watching(object), watching(object)]
    void object.user
    outer.stop()
    void object.user
    inner.stop()
    void object.user
    expect([outer.reads.length, inner.reads.length]).toEqual([1, 2])
  })

  test('that other code defines anew says so, and stays as that code defined it', () => {
    const object = { user: 'ann' }
    const { unwatched, stop } = watching(object)
    expect(unwatched()).toBeUndefined()
    Object.defineProperty(object, 'user', { configurable: true, get: () => 'bob' })
    expect(unwatched()).toBe('user')
    stop()
    expect(object.user).toBe('bob')
  })

  test('that was deleted does not count as redefined', () => {
    const object: { user?: string } = { user: 'ann' }
    const { unwatched } = watching(object)
    delete object.user
    expect(unwatched()).toBeUndefined()
  })

  test.each([
    ['of a frozen object', Object.freeze({ user: 'ann' })],
    ['that cannot be configured', Object.defineProperty({}, 'user', { value: 'ann' })],
  ])('%s is not watched', (_case, object: { readonly user?: string }) => {
    const { reads } = watching(object)
    expect([object.user, reads]).toEqual(['ann', []])
  })
})
