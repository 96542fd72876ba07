// What the search of the site finds first. VitePress sends this to the page as text, so its functions use nothing from outside.

/** Options of MiniSearch. */
export const searchOptions = {
  prefix: true,
  // In a short word, one other letter makes another word: `tag` is no `etag`.
  fuzzy: (term: string): number | false => (term.length > 4 ? 0.2 : false),
  boost: { title: 4, text: 2, titles: 1 },
  /** How much a section counts. @param id its page and heading, such as `/docs/options.html#one-call` */
  boostDocument: (id: string, term: string): number => {
    // As in the index of a book: a word, and the section on which its reader wants to land.
    const index: Record<string, string> = {
      ttl: '/docs/options.html#how-an-entry-lives',
      tag: '/docs/faq.html#how-do-i-invalidate-a-value',
      tags: '/docs/http.html#writes-and-purges',
      ioredis: '/docs/redis.html#connect',
      key: '/docs/http.html#what-is-one-entry',
      cookie: '/docs/http.html#personal-reads',
      purge: '/docs/http.html#writes-and-purges',
      etag: '/docs/http-reference.html#how-an-entry-is-served',
      compression: '/docs/http.html#the-order-of-the-layers',
      createcache: '/docs/options.html#a-cache',
    }
    if (index[term] === id) return 8
    const [, page = '', name = '', heading = ''] = /^(.*?([\w-]*)(?:\.html)?)(?:#(.*))?$/.exec(id) ?? []
    if (/CHANGELOG|\/docs\/api\//.test(page)) return 0.01
    if (/\/bench\//.test(page)) return 0.02
    if (/\/test\/|decisions|architecture|protocol|attacks|writing-an?|CONTRIBUTING|CODE_OF|docs\/README/.test(page))
      return 0.2
    if (/examples|migrations|comparison|performance|SECURITY/.test(page)) return 0.4
    if (/reference|packages|README/.test(page)) return 0.8
    return heading === name ? 1.5 : 1
  },
}
