import etag from 'etag'
import { initialAge } from './age.ts'
import { type HeaderFields, linesOf, sameValue } from './header-fields.ts'
import { formatHttpDate } from './http-date.ts'
import type { RecordedResponse } from './recorded-response.ts'
import type { Recording, ResponseHead } from './recording.ts'
import type { Judgement, Lifetime, Unstorable } from './storable.ts'

/** How a handler's answer came out. */
export type Recorded =
  | { readonly kind: 'store'; readonly response: RecordedResponse; readonly lifetime: Lifetime }
  | { readonly kind: 'share'; readonly response: RecordedResponse }
  | { readonly kind: 'own'; readonly why: Unstorable }
  /** `response` where those who wait may have it. */
  | { readonly kind: 'fail'; readonly status: number; readonly response: RecordedResponse | undefined }
  | { readonly kind: 'lost'; readonly by: 'client' | 'handler' }

export interface RecorderSetup {
  judge(head: ResponseHead): Judgement
  cacheStatus(head: ResponseHead, judgement: Judgement): string | undefined
  timeOfDay(): number
  readonly maxBodyBytes: number
  /** A stale answer is at hand: a failure is kept from the client. */
  readonly holdsStale: boolean
}

/** RFC 9111 section 3.1: what concerns one connection, one request, or is made anew with each answer. */
const NEVER_STORED = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'set-cookie',
  'age',
  'content-length',
])
const BODILESS = new Set([204, 304])

/** Takes an answer down and says how it came out, as soon as that is certain: for what only its own client may have, at the head. */
export class Recorder implements Recording {
  /** Never rejects. */
  readonly done: Promise<Recorded>
  readonly #setup: RecorderSetup
  #holdsStale: boolean
  readonly #settle: (recorded: Recorded) => void
  #settled = false
  #head: ResponseHead | undefined
  #judged: { readonly head: ResponseHead; readonly judgement: Judgement } | undefined
  #chunks: Buffer[] = []
  #size = 0
  #ended = false

  constructor(setup: RecorderSetup) {
    let resolve: (recorded: Recorded) => void = () => undefined
    this.done = new Promise((settle) => {
      resolve = settle
    })
    this.#settle = resolve
    this.#setup = setup
    this.#holdsStale = setup.holdsStale
  }

  get keeping(): boolean {
    return !this.#settled && this.#size <= this.#setup.maxBodyBytes
  }

  /** Whether the handler's answer, or its beginning, went to its client. */
  get passed(): boolean {
    return this.#head !== undefined && !this.withholds(this.#head.status)
  }

  /** The status of the handler's answer; undefined as long as there is none. */
  get status(): number | undefined {
    return this.#head?.status
  }

  /** Whether the handler has said that its answer is whole. */
  get ended(): boolean {
    return this.#ended
  }

  /** Everything of a withheld answer, for its own client, once it is whole. */
  get withheld(): { readonly head: ResponseHead; readonly body: Buffer } | undefined {
    if (this.#head === undefined || this.passed || !this.#ended || this.#oversize()) return undefined
    return { head: this.#head, body: Buffer.concat(this.#chunks) }
  }

  withholds(status: number): boolean {
    return this.#holdsStale && status >= 500
  }

  cacheStatus(head: ResponseHead): string | undefined {
    return this.#setup.cacheStatus(head, this.#judge(head))
  }

  head(head: ResponseHead): void {
    if (this.#head !== undefined) return
    this.#head = head
    this.#advance()
  }

  chunk(bytes: Uint8Array): void {
    if (!this.keeping || this.#ended) return
    this.#size += bytes.length
    if (!this.#oversize()) this.#chunks.push(Buffer.from(bytes))
    else this.#advance()
  }

  end(): void {
    this.#ended = true
    this.#advance()
  }

  cutOff(by: 'client' | 'handler'): void {
    if (this.#head !== undefined && this.#judge(this.#head).kind === 'fail')
      this.#finish({ kind: 'fail', status: this.status ?? 0, response: undefined })
    else this.#finish({ kind: 'lost', by })
  }

  refuse(why: 'trailers' | 'hijacked'): void {
    this.#finish({ kind: 'own', why })
  }

  /** The load is over without it: what was taken down is let go. */
  abandon(): void {
    this.#finish({ kind: 'lost', by: 'handler' })
  }

  /** No stale answer will come: from now on the handler's own goes to its client, whatever it is. */
  release(): void {
    this.#holdsStale = false
  }

  /** Once a head: a route's own functions are asked. */
  #judge(head: ResponseHead): Judgement {
    if (this.#judged?.head !== head) this.#judged = { head, judgement: this.#setup.judge(head) }
    return this.#judged.judgement
  }

  #advance(): void {
    if (this.#head === undefined) return
    const judgement = this.#judge(this.#head)
    if (judgement.kind === 'fail') this.#fail(judgement.share)
    else if (judgement.kind === 'own') this.#finish({ kind: 'own', why: judgement.why })
    else if (this.#oversize()) this.#finish({ kind: 'own', why: 'too-large' })
    else if (this.#ended) this.#complete(judgement)
  }

  #fail(share: boolean): void {
    const whole = this.#ended && this.#isWhole()
    const hopeless = this.#oversize() || (!share && this.passed)
    if (!this.#ended && !hopeless) return
    const response = share && whole && !hopeless ? this.#response() : undefined
    this.#finish({ kind: 'fail', status: this.status ?? 0, response })
  }

  #complete(judgement: Judgement & { kind: 'store' | 'share' }): void {
    if (!this.#isWhole()) this.#finish({ kind: 'lost', by: 'handler' })
    else if (judgement.kind === 'share') this.#finish({ kind: 'share', response: this.#response() })
    else this.#finish({ kind: 'store', response: this.#response(), lifetime: judgement.lifetime })
  }

  /** RFC 9111 section 3.3: as long as it said it would be. */
  #isWhole(): boolean {
    const [declared] = linesOf(this.#head?.fields ?? {}, 'content-length')
    return declared === undefined || BODILESS.has(this.status ?? 0) || Number(declared) === this.#size
  }

  #response(): RecordedResponse {
    const now = this.#setup.timeOfDay()
    const head = this.#head ?? { fields: {}, before: {} }
    const status = this.status ?? 0
    const body = BODILESS.has(status) ? Buffer.alloc(0) : Buffer.concat(this.#chunks)
    const fields: Record<string, string | string[]> = {
      date: formatHttpDate(now),
      ...addedFields(head.fields, head.before),
    }
    if (status === 200 && !('etag' in head.fields)) fields['etag'] = etag(body, { weak: true })
    const removed = Object.keys(head.before).filter((name) => !(name in head.fields))
    return { status, fields, removed, body, initialAge: initialAge(head.fields, now) }
  }

  #finish(recorded: Recorded): void {
    if (this.#settled) return
    this.#settled = true
    if (this.passed || this.#oversize()) this.#chunks = []
    this.#settle(recorded)
  }

  #oversize(): boolean {
    return this.#size > this.#setup.maxBodyBytes
  }
}

/** Only what differs from what stood there before the handler began: the rest belongs to this request and is set anew on each hit. */
function addedFields(fields: HeaderFields, before: HeaderFields): Record<string, string | string[]> {
  const added: Record<string, string | string[]> = {}
  for (const [name, value] of Object.entries(fields)) {
    if (NEVER_STORED.has(name) || sameValue(value, before[name])) continue
    added[name] = typeof value === 'string' ? value : [...value]
  }
  for (const name of connectionNames(fields)) delete added[name]
  return added
}

/** The fields that `Connection` names belong to the connection as well. */
function connectionNames(fields: HeaderFields): readonly string[] {
  return linesOf(fields, 'connection')
    .flatMap((line) => line.split(','))
    .map((name) => name.trim().toLowerCase())
}
