import type { Judgement, Unstorable } from '../response/storable.ts'

/**
 * The responses in a row that are not stored before it is told: a route that stores most of its responses may
 * have one that sets a cookie.
 */
const TELLING = 3

/**
 * What keeps every response of a route from being stored, where the route's `ttl` says that they are meant
 * to be.
 */
const CURES: { readonly [W in Unstorable]?: string } = {
  'set-cookie':
    'they set a cookie. Set it on other routes, or only where it changes (sessions: saveUninitialized: false, rolling: false); or leave it out of what is stored: unsafeStripSetCookie',
  vary: 'their Vary names too many fields, or one that differs for each client. Name only the fields by which the handler chooses, or list those that do not matter: ignoreVary',
  'vary-star': "their Vary is '*'. Name the fields by which the handler chooses",
  'too-large': 'their body is larger than maxBodyBytes. Raise maxBodyBytes for the route, or take it out of the cache',
}

/** Warns once that a route with a `ttl` stores nothing. */
export class NeverStoredWarning {
  #inRow = 0
  #given: boolean

  constructor(isAppMode: boolean) {
    this.#given = isAppMode
  }

  /** Call it with each judged response. `target`: the URL of its request. */
  note(judgement: Judgement, target: string): void {
    if (this.#given) return
    if (judgement.kind === 'store') this.#inRow = 0
    const cure = 'why' in judgement ? CURES[judgement.why] : undefined
    if (cure === undefined) return
    this.#inRow += 1
    if (this.#inRow < TELLING) return
    this.#given = true
    const [path] = target.split('?')
    process.emitWarning(`The responses of ${path} are not stored, although the route has a ttl: ${cure}.`, {
      type: 'CattlegridWarning',
      code: 'CATTLEGRID_NEVER_STORED',
    })
  }
}
