import { PERSONAL_NAMES, type PersonalRead } from '../request/client-reads.ts'
import type { Judgement, Unstorable } from '../response/storable.ts'
import { pathOf, Warnings } from '../warnings.ts'

/**
 * The responses in a row that are not stored before it is told: a route that stores most of its responses may
 * have one that sets a cookie.
 */
const TELLING = 3

/** What keeps every response of a route from being stored, where its `ttl` says that they are meant to be. */
const CURES: { readonly [W in Unstorable]?: string } = {
  'set-cookie':
    'they set a cookie. Set it on other routes, or only where it changes (sessions: saveUninitialized: false, rolling: false); or leave it out of what is stored: unsafeStripSetCookie',
  vary: 'their Vary names too many fields, or one that differs for each client. Name only the fields by which the handler chooses, or list those that do not matter: ignoreVary',
  'vary-star': "their Vary is '*'. Name the fields by which the handler chooses",
  'too-large': 'their body is larger than maxBodyBytes. Raise maxBodyBytes for the route, or take it out of the cache',
}

/** Tells why the responses of a route are not stored, where that is likely not meant. */
export class RouteWarnings extends Warnings {
  readonly #ttl: unknown
  readonly #ttlOfCache: number | undefined
  #unstoredInRow = 0

  constructor(ttl: unknown, ttlOfCache: number | undefined) {
    super()
    this.#ttl = ttl
    this.#ttlOfCache = ttlOfCache
  }

  /** Call it with each judged response. `target`: the URL of its request; `pattern`: that of its route. */
  noteJudgement(judgement: Judgement, target: string, pattern: string | undefined): void {
    const why = judgement.kind === 'unshareable' ? judgement.why : undefined
    if (why === 'no-freshness' && this.#ttl === undefined && pattern !== undefined) this.#giveUnusedTtl(pattern)
    if (this.#ttl === undefined || this.#ttl === 'origin') return
    if (judgement.kind === 'store') this.#unstoredInRow = 0
    const cure = 'why' in judgement ? CURES[judgement.why] : undefined
    if (cure === undefined) return
    this.#unstoredInRow += 1
    if (this.#unstoredInRow >= TELLING) this.giveOnce('CATTLEGRID_NEVER_STORED', neverStored, target, cure)
  }

  /** The handler reads who its client is. */
  givePersonalRead(read: PersonalRead, target: string): void {
    this.giveOnce('CATTLEGRID_PERSONAL_READ', personalRead, read, target)
  }

  /** The handler puts what a layer outside has set as `field` into a text of its own. */
  giveOuterValue(field: string, target: string): void {
    this.giveOnce('CATTLEGRID_OUTER_VALUE', outerValue, field, target)
  }

  /** A route without a `ttl` stores what declares its own freshness: nothing, where no response does. */
  #giveUnusedTtl(pattern: string): void {
    if (this.#ttlOfCache === undefined) this.giveOnce('CATTLEGRID_NO_TTL', unusedTtl, pattern, 'its route has no ttl')
    else
      this.giveOnce('CATTLEGRID_UNUSED_TTL', unusedTtl, pattern, 'the ttl of createCache does not count for responses')
  }
}

function neverStored(target: string, cure: string): string {
  return `The responses of ${pathOf(target)} are not stored, although the route has a ttl: ${cure}.`
}

function unusedTtl(pattern: string, why: string): string {
  return (
    `The response of ${pattern} declares no freshness, and ${why}: it is not stored. Give the route a ttl, or app.use: ` +
    "cached({ ttl }); that of the adapter counts only for routes with cached() or config.cache. ttl: 'origin' says that only responses which declare their own freshness are meant."
  )
}

function outerValue(field: string, target: string): string {
  return (
    `The handler of ${pathOf(target)} puts what a layer outside the cache has set as ${field} into a value of its own. What is the handler's cannot be told ` +
    `apart: the response is its own client's, and is not stored. Set the whole of ${field} outside the cache, or the whole of it in the handler; ` +
    `or append a line of its own (res.append('${field}', value)); or keep the field out of what is stored: strip: ['${field}'].`
  )
}

function personalRead({ name, expression, position }: PersonalRead, target: string): string {
  return (
    `The handler of ${pathOf(target)} reads ${expression}, in ${position}. Its response is therefore its own client's, and is not stored. ` +
    `${cureOf(name)} If only the code that identifies the client reads it, ` +
    'run that code before the cache: in a middleware before cached(), a hook or a guard.'
  )
}

function cureOf(name: string): string {
  // What only the objects of one framework have.
  if (!PERSONAL_NAMES.includes(name))
    return 'No option allows this read: let the handler read what it needs from the URL, or from a field in the key (key.headers).'
  return (
    `If every client gets the same response, allow the read: allowReads: ['${name}']. If the response depends on the client, ` +
    'put what it depends on into the key (key.cookies, key.headers or key.extra) and then allow the read.'
  )
}
