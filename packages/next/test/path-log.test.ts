import { createCache } from '@cattlegrid/core'
import { awayBecause } from '@cattlegrid/core/extend'
import { beforeEach, describe, expect, it } from '@jest/globals'
import { nextCacheHandler } from '../src/index.ts'
import { Fleet, pathOf, rendered, textIn } from './support/fleet.ts'

let fleet: Fleet

beforeEach(() => {
  fleet = new Fleet()
})

describe('a path that was invalidated', () => {
  it('has a path render anew what it uses once it was invalidated, and no other path', async () => {
    const [handler, other] = [fleet.process(), fleet.process()]
    await handler.get('menu', [pathOf('/a')])
    await handler.set('menu', rendered('old'))
    await other.updateTags([pathOf('/a')])
    expect(await textIn(other, 'menu', [pathOf('/a')])).toBeUndefined()
    expect(await textIn(handler, 'menu', [pathOf('/b')])).toBe('old')
    await other.set('menu', rendered('new'))
    expect(await textIn(handler, 'menu', [pathOf('/a')])).toBe('new')
  })

  it('gives a path that was invalidated no stale value, though it has to refresh it', async () => {
    const handler = fleet.process()
    await handler.get('menu', [])
    await handler.set('menu', rendered('old', { revalidate: 1 }))
    await fleet.runtime.advance(2000)
    await fleet.process().updateTags([pathOf('/a')])
    expect(await textIn(handler, 'menu', [pathOf('/a')])).toBeUndefined()
  })

  it('has all paths render anew when what was invalidated is lost', async () => {
    const handler = fleet.process()
    await handler.get('menu', [pathOf('/a')])
    await handler.set('menu', rendered('old'))
    await fleet.process().updateTags([pathOf('/a')])
    await fleet.cache().delete('paths')
    expect(await textIn(handler, 'menu', [pathOf('/a')])).toBeUndefined()
  })

  it('counts a path as invalidated that was dropped from a list of too many', async () => {
    const handler = fleet.process()
    await handler.get('menu', [])
    await handler.set('menu', rendered('old'))
    await fleet.process().updateTags(Array.from({ length: 1100 }, (_, index) => pathOf(`/${index}`)))
    expect(await textIn(handler, 'menu', [pathOf('/0')])).toBeUndefined()
  })

  it('keeps no value of a path that was invalidated while it was rendered', async () => {
    const [slow, other] = [fleet.process(), fleet.process()]
    await slow.get('menu', [pathOf('/a')])
    const entry = rendered('old')
    await other.updateTags([pathOf('/a')])
    await slow.set('menu', entry)
    expect(await textIn(other, 'menu', [pathOf('/a')])).toBeUndefined()
  })

  it('notes invalidations of many paths at once, by several processes', async () => {
    const handlers = [fleet.process(), fleet.process(), fleet.process()]
    const reader = fleet.process()
    await reader.get('menu', [])
    await reader.set('menu', rendered('old'))
    const paths = Array.from({ length: 60 }, (_, index) => pathOf(`/${index}`))
    const noted = Promise.all(paths.map((path, index) => handlers[index % 3]?.updateTags([path])))
    await fleet.passing(noted)
    const texts = new Set<unknown>()
    for (const path of paths) {
      const text = await textIn(reader, 'menu', [path])
      if (text === undefined) await reader.set('menu', rendered('new'))
      else texts.add(text)
    }
    expect([...texts]).toEqual(['new'])
  })

  it('is told as not invalidated while the store does not answer, though this process has noted it', async () => {
    let isAway = false
    const steps: readonly PropertyKey[] = ['read', 'acquire', 'renew', 'commit', 'release']
    const store = new Proxy(fleet.store, {
      get(target, name) {
        if (name === 'shared') return true
        if (name === 'peek') return () => undefined
        if (isAway && steps.includes(name)) return () => Promise.resolve(awayBecause(new Error('down')))
        const member: unknown = Reflect.get(target, name)
        return typeof member === 'function' ? member.bind(target) : member
      },
    })
    const handler = nextCacheHandler(createCache({ store, runtime: fleet.runtime }))
    // The second one reads the list, of which the process then has a copy.
    for (const key of ['menu', 'footer']) await fleet.passing(handler.get(key, []))
    isAway = true
    await expect(fleet.passing(handler.updateTags([pathOf('/a')]))).rejects.toThrow('/a could not be stored')
    isAway = false
    await fleet.passing(handler.updateTags([pathOf('/a')]))
    expect(await fleet.passing(fleet.process().get('menu', [pathOf('/a')]))).toBeUndefined()
  })
})
