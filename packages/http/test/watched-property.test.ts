import { describe, expect, test } from '@jest/globals'
import { watchProperty } from '../src/request/watched-property.ts'

const silent = { onRead: (value: unknown) => value, onAssign: () => {} }

/** Watches `user` of the object, and notes the values that were read. */
function watching(object: object) {
  const reads: unknown[] = []
  const observer = {
    onRead: (value: unknown): unknown => {
      reads.push(value)
      return value
    },
    onAssign: () => {},
  }
  const property = watchProperty(object, 'user', observer)
  return { property, reads, stop: () => property?.stop(observer) }
}

describe('a watched property', () => {
  test('reports each read with its value, and leaves the object as it was', () => {
    const object = { user: 'ann' }
    const { reads, stop } = watching(object)
    expect([object.user, { ...object }]).toEqual(['ann', { user: 'ann' }])
    stop()
    expect(reads).toEqual(['ann', 'ann'])
    expect(Object.getOwnPropertyDescriptor(object, 'user')).toEqual({
      value: 'ann',
      writable: true,
      enumerable: true,
      configurable: true,
    })
  })

  test('that its object lacks is not enumerable, and is gone afterwards', () => {
    const object: { readonly user?: string } = {}
    const { reads, stop } = watching(object)
    expect([object.user, Object.keys(object)]).toEqual([undefined, []])
    stop()
    expect([reads, 'user' in object]).toEqual([[undefined], false])
  })

  test('keeps what was assigned meanwhile', () => {
    const object: { user?: string } = {}
    const { stop } = watching(object)
    object.user = 'bob'
    expect(Object.keys(object)).toEqual(['user'])
    stop()
    expect(Object.getOwnPropertyDescriptor(object, 'user')?.value).toBe('bob')
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
    const { stop } = watching(object)
    object.user = 'bob'
    expect(object.user).toBe('BOB')
    stop()
    expect([Object.hasOwn(object, 'user'), object.user]).toEqual([false, 'BOB'])
  })

  test('is null where its accessor says so', () => {
    const object = {
      get user() {
        return null
      },
    }
    const { stop } = watching(object)
    expect(object.user).toBeNull()
    stop()
  })

  test('reports to each of several observers until the last one stops, in whatever order they do', () => {
    const object = { user: 'ann' }
    const [outer, inner] = [watching(object), watching(object)]
    void object.user
    outer.stop()
    void object.user
    inner.stop()
    void object.user
    expect([outer.reads.length, inner.reads.length]).toEqual([1, 2])
    expect(Object.getOwnPropertyDescriptor(object, 'user')?.get).toBeUndefined()
  })

  test('that other code defines anew says so, and stays as that code defined it', () => {
    const object = { user: 'ann' }
    const { property, stop } = watching(object)
    Object.defineProperty(object, 'user', { configurable: true, get: () => 'bob' })
    expect(property?.redefined).toBe(true)
    stop()
    expect(object.user).toBe('bob')
  })

  test('that was deleted does not count as redefined', () => {
    const object: { user?: string } = { user: 'ann' }
    const { property } = watching(object)
    delete object.user
    expect(property?.redefined).toBe(false)
  })

  test.each([
    ['of a frozen object', Object.freeze({ user: 'ann' })],
    ['that cannot be configured', Object.defineProperty({}, 'user', { value: 'ann' })],
  ])('%s is not watched', (_case, object) => {
    expect(watchProperty(object, 'user', silent)).toBeUndefined()
  })
})
