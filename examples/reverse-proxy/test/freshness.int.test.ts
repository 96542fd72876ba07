import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { openScene, type Scene } from './scene.ts'

let scene: Scene
beforeAll(async () => {
  scene = await openScene()
})
afterAll(() => scene.close())

type Fields = Readonly<Record<string, string | readonly string[]>>

const at = (seconds: number): string => new Date(Date.now() + seconds * 1000).toUTCString()

/** True if a response with these fields is reused after so many seconds. */
async function fresh(fields: Fields, after = 0): Promise<boolean> {
  const path = scene.path({ fields }, { fields: { 'Cache-Control': 'no-store' } })
  await scene.ask(path)
  await scene.wait(after)
  return (await scene.ask(path)).hit
}

describe('how long an answer is fresh', () => {
  test('is until its age has reached its lifetime', async () => {
    expect(await fresh({ 'Cache-Control': 'max-age=100' }, 80)).toBe(true)
    expect(await fresh({ 'Cache-Control': 'max-age=100' }, 100)).toBe(false)
  })

  test('is said by s-maxage before max-age, and by max-age before Expires', async () => {
    expect(await fresh({ 'Cache-Control': 'max-age=1, s-maxage=100' }, 80)).toBe(true)
    expect(await fresh({ 'Cache-Control': 's-maxage=1, max-age=10' }, 2)).toBe(false)
    expect(await fresh({ 'Cache-Control': 'max-age=100', Expires: at(-10) }, 80)).toBe(true)
    expect(await fresh({ 'Cache-Control': 'max-age=1', Expires: at(60) }, 2)).toBe(false)
  })

  test('is the time between Date and Expires, whatever our own clock says', async () => {
    // The origin's clock is an hour ahead: no age, and a lifetime of 100 s.
    const now = Date.now()
    const [date, expires] = [new Date(now + 3_600_000).toUTCString(), new Date(now + 3_700_000).toUTCString()]
    expect(await fresh({ Date: date, Expires: expires }, 80)).toBe(true)
    expect(await fresh({ Date: date, Expires: expires }, 100)).toBe(false)
  })

  test('is no time at all with an Expires that is no date, or that names a zone', async () => {
    for (const expires of ['0', '-1', 'soon', at(60).replace('GMT', 'EST'), at(60).replace('GMT', '+0000')])
      expect([expires, await fresh({ Expires: expires })]).toEqual([expires, false])
  })

  test('is read from a date in any case, and in each of its three forms', async () => {
    const date = new Date(Date.now() + 60_000)
    const [, day, month, year, time] = date.toUTCString().split(' ')
    const long = `${['Sun', 'Mon', 'Tues', 'Wednes', 'Thurs', 'Fri', 'Satur'][date.getUTCDay()]}day`
    const forms = [
      date.toUTCString().toLowerCase(),
      `${long}, ${day}-${month}-${year?.slice(2)} ${time} GMT`,
      `${date.toUTCString().slice(0, 3)} ${month} ${String(date.getUTCDate()).padStart(2)} ${time} ${year}`,
    ]
    for (const form of forms) expect([form, await fresh({ Expires: form })]).toEqual([form, true])
  })

  test('is no time at all where the number cannot be read', async () => {
    for (const value of ['-1', '1.5', '60a', '', ' 60', '"', '1e3'])
      expect([value, await fresh({ 'Cache-Control': `max-age=${value}` })]).toEqual([value, false])
  })

  test('is long where the number is too large to keep', async () => {
    expect(await fresh({ 'Cache-Control': 'max-age=99999999999999999999' }, 86_400)).toBe(true)
  })

  test('is what the first of two directives says', async () => {
    expect(await fresh({ 'Cache-Control': 'max-age=1, max-age=60' }, 2)).toBe(false)
    expect(await fresh({ 'Cache-Control': ['max-age=60', 'max-age=1'] }, 2)).toBe(true)
  })

  test('is shorter by the age that it came with, and by what its Date tells', async () => {
    expect(await fresh({ 'Cache-Control': 'max-age=100', Age: '50' }, 30)).toBe(true)
    expect(await fresh({ 'Cache-Control': 'max-age=100', Age: '50' }, 50)).toBe(false)
    expect(await fresh({ 'Cache-Control': 'max-age=100', Date: at(-80) }, 5)).toBe(true)
    expect(await fresh({ 'Cache-Control': 'max-age=100', Date: at(-80) }, 20)).toBe(false)
  })

  test('counts from its head, however long its body takes', async () => {
    const path = scene.path((_req, res) => {
      res.writeHead(200, { 'Cache-Control': 'max-age=2' })
      res.write('slow')
      setTimeout(() => res.end(), 1200)
    })
    await scene.ask(path)
    await scene.wait(1)
    expect((await scene.ask(path)).hit).toBe(false)
  })

  test('counts the first line of Age, and looks past one that is no number', async () => {
    expect(await fresh({ 'Cache-Control': 'max-age=10', Age: ['0', '10'] })).toBe(true)
    expect(await fresh({ 'Cache-Control': 'max-age=10', Age: 'old' })).toBe(true)
    expect(await fresh({ 'Cache-Control': 'max-age=10', Age: '-1' })).toBe(true)
  })
})

describe('the Age of an answer from the cache', () => {
  test('is what it came with and the time since, in whole seconds, in the place of the one it had', async () => {
    const path = scene.path({ fields: { 'Cache-Control': 'max-age=100', Age: '30' } })
    expect((await scene.ask(path)).fields.get('age')).toEqual(['30'])
    await scene.wait(12.1)
    expect((await scene.ask(path)).fields.get('age')).toEqual(['42'])
  })

  test('counts the time that the origin took to answer, where it came with one', async () => {
    const path = scene.path((_req, res) => {
      setTimeout(() => {
        res.writeHead(200, { 'Cache-Control': 'max-age=100', Age: '30', Date: at(0) })
        res.end('slow')
      }, 1100)
    })
    await scene.ask(path)
    expect(Number((await scene.ask(path)).field('age'))).toBeGreaterThan(30)
  })

  test('and its Date is the origin’s; where it had none, the time at which it came', async () => {
    const date = at(-5)
    const dated = scene.path({ fields: { 'Cache-Control': 'max-age=100', Date: date } })
    await scene.ask(dated)
    expect((await scene.ask(dated)).fields.get('date')).toEqual([date])
    const undated = scene.path({ fields: { 'Cache-Control': 'max-age=100', Date: '' } })
    const first = await scene.ask(undated)
    await scene.wait(10)
    expect(Date.parse(first.field('date') ?? '')).toBeGreaterThan(Date.now() - 60_000)
    expect((await scene.ask(undated)).fields.get('date')).toEqual(first.fields.get('date'))
  })
})

describe('a field for this cache alone', () => {
  const targeted = (value: string, cacheControl = 'no-store'): Fields => ({
    'CDN-Cache-Control': value,
    'Cache-Control': cacheControl,
  })

  test('counts in the place of Cache-Control and of Expires', async () => {
    expect(await fresh(targeted('max-age=100'), 80)).toBe(true)
    expect(await fresh(targeted('no-store', 'max-age=10'))).toBe(false)
    expect(await fresh({ ...targeted('max-age=1'), Expires: at(60) }, 2)).toBe(false)
    expect(await fresh({ ...targeted('public', 'max-age=60'), Expires: at(60) })).toBe(false)
  })

  test('obeys the directives that it must', async () => {
    for (const directive of ['no-store', 'no-cache', 'private'])
      expect([directive, await fresh(targeted(`max-age=10, ${directive}`, 'max-age=10'))]).toEqual([directive, false])
    const path = scene.path({ fields: targeted('max-age=10, must-revalidate', 'max-age=10') }, { status: 503 })
    await scene.ask(path)
    await scene.wait(11)
    expect((await scene.ask(path)).status).toBe(503)
  })

  test('that is empty or cannot be parsed is looked past', async () => {
    for (const value of ['', 'max-age=10, &&', 'max-age =10', 'MaX-aGe=10', 'max-age=10;'])
      expect([value, await fresh({ 'CDN-Cache-Control': value, 'Cache-Control': 'max-age=10' })]).toEqual([value, true])
  })

  test('whose member is of another type than its directive is without that member', async () => {
    expect(await fresh(targeted('max-age="10"', 'max-age=10'))).toBe(false)
    expect(await fresh(targeted('max-age=1.5', 'max-age=10'))).toBe(false)
    expect(await fresh(targeted('max-age=10, no-store=?0'))).toBe(true)
  })

  test('may have parameters and members that nobody knows', async () => {
    expect(await fresh(targeted('max-age=10;why=x, other=(1 2);a, b'))).toBe(true)
  })

  test('may stand on several lines, of which the last word counts', async () => {
    expect(await fresh({ 'CDN-Cache-Control': ['max-age=60', 'max-age=1'], 'Cache-Control': 'no-store' }, 2)).toBe(
      false,
    )
  })

  test('goes on to whoever asked, and one for another cache changes nothing', async () => {
    const path = scene.path({ fields: { ...targeted('max-age=10', 'max-age=3'), 'Other-Cache-Control': 'no-store' } })
    await scene.ask(path)
    const hit = await scene.ask(path)
    expect(hit.hit).toBe(true)
    expect([hit.field('cdn-cache-control'), hit.field('cache-control'), hit.field('other-cache-control')]).toEqual([
      'max-age=10',
      'max-age=3',
      'no-store',
    ])
  })
})
