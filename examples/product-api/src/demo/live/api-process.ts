import type { Child } from '../../child.ts'
import type { Loads, Message, Reply, Report, Request } from '../../strategies/messages.ts'

type Ask = Request extends infer Each ? (Each extends Request ? Omit<Each, 'id'> : never) : never

const REPLY_AT_MOST_MS = 30_000
const NOTHING: Report = { fresh: 0, stale: 0, loaded: 0, failed: 0, waiting: 0, leads: false }

/** One running API process, as the demo sees it: what it reports, and what can be done to it. */
export class ApiProcess {
  readonly pid: number
  readonly url: string
  readonly stop: () => Promise<void>
  /** Requests that it has not answered. */
  outstanding = 0
  loads: Loads = { at: 0, running: 0, reading: 0, newest: 0 }
  ended = false
  frozen = false
  /** When it was frozen, or ended, by `performance.now()`. */
  stoppedAt: number | undefined
  #report = NOTHING
  #nextId = 0
  readonly #child: Child['process']
  readonly #replies = new Map<number, (reply: Reply) => void>()

  /** `onLoads`: called with what was before, at each begin and end of a load, and when the process ends with some. */
  constructor({ pid, url, process, stop }: Child, onLoads: (before: Loads) => void) {
    this.pid = pid
    this.url = url
    this.stop = stop
    this.#child = process
    const setLoads = (loads: Loads): void => {
      const before = this.loads
      this.loads = loads
      onLoads(before)
    }
    process.on('message', (message: Message) => {
      if (message.kind === 'load') setLoads(message.loads)
      else if (message.kind === 'report') this.#add(message.report)
      else if (message.kind === 'reply') this.#replies.get(message.reply.id)?.(message.reply)
    })
    process.once('exit', () => {
      this.ended = true
      this.stoppedAt = performance.now()
      setLoads({ ...this.loads, running: 0, reading: 0 })
      for (const [id, settle] of this.#replies) settle({ id, error: `process ${pid} ended` })
    })
  }

  /** What it reported since the last call. */
  takeReport(): Report {
    const report = this.#report
    this.#report = { ...NOTHING, waiting: report.waiting, leads: report.leads }
    return report
  }

  ask(request: Ask): Promise<Reply> {
    const id = (this.#nextId += 1)
    const reply = new Promise<Reply>((resolve) => {
      const timer = setTimeout(
        () => resolve({ id, error: `process ${this.pid} did not reply within ${REPLY_AT_MOST_MS / 1_000} s` }),
        REPLY_AT_MOST_MS,
      )
      this.#replies.set(id, (settled) => {
        clearTimeout(timer)
        this.#replies.delete(id)
        resolve(settled)
      })
    })
    if (this.#child.connected) this.#child.send({ ...request, id })
    else this.#replies.get(id)?.({ id, error: `process ${this.pid} ended` })
    return reply
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }

  freeze(): void {
    this.frozen = true
    this.stoppedAt = performance.now()
    this.#child.kill('SIGSTOP')
  }

  thaw(): void {
    this.frozen = false
    this.stoppedAt = undefined
    this.#child.kill('SIGCONT')
  }

  #add(report: Report): void {
    const sum = (name: 'fresh' | 'stale' | 'loaded' | 'failed'): number => this.#report[name] + report[name]
    this.#report = { ...report, fresh: sum('fresh'), stale: sum('stale'), loaded: sum('loaded'), failed: sum('failed') }
  }
}
