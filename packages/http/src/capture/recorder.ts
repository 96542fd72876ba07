import etag from 'etag'
import { initialAge } from '../response/age.ts'
import { BodyCopy } from './body-copy.ts'
import { type CaptureBudget, ofProcess } from './capture-budget.ts'
import { type Conditions, fieldsOfContent, notModified } from '../response/conditional.ts'
import { linesOf } from '../fields/header-fields.ts'
import { formatHttpDate } from '../fields/http-date.ts'
import { addedFields, addedVary, removedFields } from '../response/recorded-fields.ts'
import type { RecordedResponse } from '../response/recorded-response.ts'
import type { NotModified, Recording } from './recording.ts'
import type { ResponseHead } from '../response/response-head.ts'
import { freshened, isAbout } from '../response/revalidate.ts'
import type { Judgement, Lifetime, Unstorable } from '../response/storable.ts'

/** How a handler's answer came out. */
export type Recorded =
  | {
      readonly kind: 'store'
      readonly response: RecordedResponse
      readonly lifetime: Lifetime
      /** The request fields by which the inside chose this answer: lower-case, sorted. */
      readonly vary: readonly string[]
    }
  | { readonly kind: 'share'; readonly response: RecordedResponse; readonly vary: readonly string[] }
  /** `passing`: for a reason of this moment. */
  | { readonly kind: 'own'; readonly why: Unstorable; readonly passing?: boolean | undefined }
  /** `response` where those who wait may have it. */
  | {
      readonly kind: 'fail'
      readonly status: number
      readonly response: RecordedResponse | undefined
      readonly vary: readonly string[]
    }
  | { readonly kind: 'lost'; readonly by: 'client' | 'handler' }
  /** A 304 about another answer than the one that it was asked about. */
  | { readonly kind: 'outdated' }

export interface RecorderSetup {
  judge(head: ResponseHead): Judgement
  announces(head: ResponseHead, judgement: Judgement): Readonly<Record<string, string>>
  /** Fields of an answer that is stored, where no layer has set them. */
  readonly defaults?: Readonly<Record<string, string>> | undefined
  timeOfDay(): number
  /** When the handler was asked, by the same clock. */
  readonly began?: number | undefined
  readonly maxBodyBytes: number
  /** Bytes that all captures of the process may hold together. Default: no limit. */
  readonly maxCaptureBytes?: number | undefined
  /** Where they are counted. Default: in the process. */
  readonly captures?: CaptureBudget | undefined
  /** Whether a 200 without an entity-tag gets one. Default: true. */
  readonly makesEtag?: boolean | undefined
  /** Fields that are not stored, lower-case. */
  readonly strip: readonly string[]
  /** Of the client whose own handler this is; undefined: it has none. */
  readonly conditions?: Conditions | undefined
  /** A stale answer is at hand: a failure is kept from the client. */
  readonly holdsStale: boolean
  /** The stored answer that the handler was asked to revalidate: a 304 stands for it. */
  readonly revalidates?: RecordedResponse | undefined
}

/** Their length says nothing of a body. */
export const BODILESS: ReadonlySet<number> = new Set([204, 304])

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
  readonly #body: BodyCopy
  /** Somebody may still ask for a withheld answer. */
  #wanted = true
  #ended = false
  /** Its head was kept from the client. */
  #kept = false
  /** The handler said 304 of the stored answer. */
  #again = false
  /** … of another one. */
  #outdated = false

  constructor(setup: RecorderSetup) {
    let resolve: (recorded: Recorded) => void = () => undefined
    this.done = new Promise((settle) => {
      resolve = settle
    })
    this.#settle = resolve
    this.#setup = setup
    this.#holdsStale = setup.holdsStale
    const { maxBodyBytes, maxCaptureBytes = Infinity, captures = ofProcess } = setup
    this.#body = new BodyCopy({ maxBodyBytes, maxCaptureBytes }, captures)
  }

  get keeping(): boolean {
    return !this.#settled && !this.#body.tooLarge
  }

  /** Whether the handler's answer, or its beginning, went to its client. */
  get passed(): boolean {
    return this.#head !== undefined && !(this.#kept && (this.#holdsStale || this.#again || this.#outdated))
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
    if (this.#head === undefined || this.passed || this.#again || this.#outdated || !this.#ended || this.#body.tooLarge)
      return undefined
    // A body at hand goes out with its length, and so without trailers.
    const { trailer: _, ...fields } = this.#head.fields
    return { head: { ...this.#head, fields }, body: this.#body.bytes }
  }

  /** The stored answer, freshened by a handler that said 304: what its client is to get. */
  get revalidated(): RecordedResponse | undefined {
    return this.#again && this.#ended ? this.#response() : undefined
  }

  /** What it said concerns an answer that nobody has: its client is to get what a request without conditions brings. */
  get outdated(): boolean {
    return this.#outdated
  }

  suppresses(status: number): boolean {
    return (this.#holdsStale && status >= 500) || (this.#setup.revalidates !== undefined && status === 304)
  }

  answersNotModified(head: ResponseHead, body: Uint8Array): NotModified | undefined {
    const { conditions } = this.#setup
    if (conditions === undefined) return undefined
    const lacks = !('etag' in head.fields)
    const made = lacks && this.#judge(head).kind === 'store' ? this.#madeTag(head, body) : {}
    const fields = { ...head.fields, ...made }
    return notModified(conditions, head.status, fields) ? { removed: fieldsOfContent(fields), fields: made } : undefined
  }

  announces(head: ResponseHead): Readonly<Record<string, string>> {
    return this.#setup.announces(head, this.#judge(head))
  }

  head(head: ResponseHead): void {
    if (this.#head !== undefined) return
    const { revalidates } = this.#setup
    this.#kept = this.suppresses(head.status)
    this.#head = head
    if (revalidates !== undefined && head.status === 304) this.#revalidate(head, revalidates)
    this.#advance()
  }

  #revalidate(head: ResponseHead, stored: RecordedResponse): void {
    this.#again = isAbout(stored, head)
    this.#outdated = !this.#again
    if (this.#outdated) return this.#finish({ kind: 'outdated' })
    this.#head = freshened(head, stored)
    this.#body.adopt(stored.body)
  }

  chunk(bytes: Uint8Array): void {
    if (!this.keeping || this.#ended || this.#again) return
    this.#body.add(bytes)
    if (this.#body.tooLarge) this.#advance()
  }

  end(): void {
    this.#ended = true
    this.#advance()
  }

  cutOff(by: 'client' | 'handler'): void {
    if (this.#head !== undefined && this.#judge(this.#head).kind === 'fail')
      this.#finish({ kind: 'fail', status: this.status ?? 0, response: undefined, vary: [] })
    else this.#finish({ kind: 'lost', by })
  }

  refuse(why: 'hijacked'): void {
    this.#finish({ kind: 'own', why })
  }

  /** The load is over without it: what was taken down is let go. */
  abandon(): void {
    this.#finish({ kind: 'lost', by: 'handler' })
  }

  /** Its request is answered: what was withheld is let go. */
  dispose(): void {
    this.#wanted = false
    if (this.#settled) this.#body.drop()
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
    else if (judgement.kind === 'own') this.#finish(judgement)
    else if (this.#body.tooLarge) this.#finish({ kind: 'own', why: 'too-large', passing: this.#body.crowdedOut })
    else if (this.#ended) this.#complete(judgement)
  }

  #fail(share: boolean): void {
    const whole = this.#ended && this.#isWhole()
    const hopeless = this.#body.tooLarge || (!share && this.passed)
    if (!this.#ended && !hopeless) return
    const response = share && whole && !hopeless ? this.#response() : undefined
    this.#finish({ kind: 'fail', status: this.status ?? 0, response, vary: addedVary(this.#head) })
  }

  #complete(judgement: Judgement & { kind: 'store' | 'share' }): void {
    if (!this.#isWhole()) this.#finish({ kind: 'lost', by: 'handler' })
    else if (judgement.kind === 'share')
      this.#finish({ kind: 'share', response: this.#response(), vary: addedVary(this.#head) })
    else {
      const { lifetime } = judgement
      // What it declares began with its head: a body that took long has used it up. In whole seconds, as every age.
      const took = this.#setup.timeOfDay() - (lifetime.since ?? Infinity)
      const ttl = lifetime.ttl - Math.max(0, Math.floor(took / 1000)) * 1000
      if (ttl < 1) return this.#finish({ kind: 'own', why: 'no-freshness' })
      const response = this.#response(this.#setup.defaults)
      this.#finish({ kind: 'store', response, lifetime: { ...lifetime, ttl }, vary: addedVary(this.#head) })
    }
  }

  /** RFC 9111 section 3.3: as long as it said it would be. */
  #isWhole(): boolean {
    if (this.#again) return true
    const [declared] = linesOf(this.#head?.fields ?? {}, 'content-length')
    return declared === undefined || BODILESS.has(this.status ?? 0) || Number(declared) === this.#body.size
  }

  #response(defaults: Readonly<Record<string, string>> = {}): RecordedResponse {
    const now = this.#setup.timeOfDay()
    const head = this.#head ?? { fields: {}, before: {} }
    const status = this.status ?? 0
    const body = BODILESS.has(status) ? Buffer.alloc(0) : this.#body.bytes
    const fields: Record<string, string | string[]> = {
      date: formatHttpDate(now),
      ...Object.fromEntries(Object.entries(defaults).filter(([name]) => !(name in head.fields))),
      ...addedFields(head.fields, head.before, this.#setup.strip),
    }
    Object.assign(fields, this.#madeTag({ ...head, status }, body))
    return {
      status,
      fields,
      removed: removedFields(head),
      body,
      initialAge: initialAge(head.fields, now, this.#setup.began),
    }
  }

  /** A weak one: layers outside may still encode the body. */
  #madeTag({ status, fields }: Pick<ResponseHead, 'status' | 'fields'>, body: Uint8Array): Record<string, string> {
    const lacks = status === 200 && this.#setup.makesEtag !== false && !('etag' in fields)
    return lacks ? { etag: etag(Buffer.from(body.buffer, body.byteOffset, body.length), { weak: true }) } : {}
  }

  #finish(recorded: Recorded): void {
    if (this.#settled) return
    this.#settled = true
    if (this.passed || !this.#wanted) this.#body.drop()
    this.#settle(recorded)
  }
}
