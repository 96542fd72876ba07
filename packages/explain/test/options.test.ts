import { describe, expect, it } from '@jest/globals'
import { createCache } from '@cattlegrid/core'
import { explain } from '@cattlegrid/explain'
import { optionsTable } from './options-table.ts'

const cache = createCache()
const diagnosis = explain(cache)
const calls: Readonly<Record<string, readonly ((options: never) => unknown)[]>> = {
  ExplainOptions: [async (options) => explain(cache, options).close()],
  AskOptions: [(options) => diagnosis.explain('k', options), (options) => diagnosis.hotKeys(options)],
}
const roads = Object.entries(optionsTable).flatMap(([name, rows]) =>
  (calls[name] ?? []).map((road, at) => [`${name}, road ${at}`, road as (options: unknown) => unknown, rows] as const),
)
const refusal = (option: string) => ({ code: 'CATTLEGRID_INVALID_OPTION', option: expect.stringContaining(option) })

describe.each(roads)('%s', (_, road, rows) => {
  const refused = Object.entries(rows).flatMap(([option, values]) => values.map((value) => [option, value] as const))

  it.each(refused)('%s: %p is refused by name', async (option, value) => {
    await expect(road({ [option]: value })).rejects.toMatchObject(refusal(option))
  })

  it.each(Object.keys(rows))('%s: undefined means not given', async (option) => {
    await expect(road({ [option]: undefined })).resolves.not.toThrow()
  })

  it('refuses an unknown option, and what is no object', async () => {
    await expect(road({ toString: true })).rejects.toMatchObject(refusal('toString'))
    for (const options of [null, 7, []]) await expect(road(options)).rejects.toMatchObject(refusal(''))
  })
})

it('takes durations, and refuses what is no cache', async () => {
  for (const timeout of [0, 7, '0ms', '7ms'] as const) await diagnosis.explain('k', { timeout })
  for (const other of [undefined, null, {}, new Map()])
    expect(() => explain(other as never)).toThrow(expect.objectContaining(refusal('explain.cache')))
})

it('tells where the options of core have gone', () => {
  for (const name of ['history', 'hotKeys'])
    expect(() => createCache({ [name]: 7 })).toThrow(`(it belongs to explain(cache, { ${name} }))`)
})
