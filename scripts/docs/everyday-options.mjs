// The options that most applications set: of each, what it takes, its default, and the first sentence of its doc comment.
import { membersOf } from '../house/options.mjs'
import { table } from './docstring.mjs'
import { optionRow } from './options-table.mjs'

/** The tables, by name: interface → the options of it. */
const everyday = {
  cache: {
    LoadOptions: ['ttl'],
    CacheOptions: ['staleWhileRevalidate', 'staleIfError', 'store', 'near', 'maxLoads'],
  },
  call: {
    CallOptions: ['tags', 'maxAge', 'signal', 'loadTimeout', 'waitTimeout'],
  },
  route: {
    RouteOptions: [
      'ttl',
      'staleWhileRevalidate',
      'staleIfError',
      'query',
      'key',
      'tags',
      'allowReads',
      'refresh',
      'invalidateOnUnsafe',
      'cacheStatus',
    ],
  },
}

/** @param {import('./regions.mjs').Page} page @param {(interfaceName: string) => { file: string, node: object }} declared */
export function everydayTable(page, name, declared) {
  const rows = Object.entries(everyday[name]).flatMap(([owner, keys]) => {
    const { file, node } = declared(owner)
    const members = membersOf(page.declarations, file, node)
    return keys.map((key) => {
      const [option, takes, byDefault, meaning] = optionRow(page, key, members.get(key))
      return [option, takes, byDefault, firstSentence(meaning)]
    })
  })
  return table(['Option', 'Takes', 'Default', 'Meaning'], rows)
}

const firstSentence = (text) => /^.*?[.](?= [A-Z`]|$)/.exec(text)?.[0] ?? text
