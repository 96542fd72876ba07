import type { Answers, Away, ProcessQuestions } from '@cattlegrid/core/extend'
import type { AnswerLimits, StepParts } from './lua/scripts.ts'

/** The first word of a question on the channel. Versions that do not know it ignore the message. */
const ASK = 'ask'
const QUESTION = /^ask ([\w-]{22}) (.+)$/s
/**
 * That of a key with 100 tags of 256 characters, of which JSON makes up to six of each. An unread question
 * would make its process look frozen.
 */
const LONGEST_QUESTION = 200_000
const LIMITS: AnswerLimits = { keepFor: 10_000, most: 1000 }
/** Number of questions that are answered within a second: anyone who may publish can ask. */
const MOST_PER_SECOND = 20
/** The time between two looks at the answers, ms. */
const LOOK_INTERVAL = 20

type Answerer = (question: string) => string | undefined

/**
 * Questions of one process to all that use the namespace, for diagnosis. The question is published on the
 * channel of the notices; each process appends its answers to a list that the one that asks reads and
 * removes. While nobody asks, nothing is sent or stored.
 */
export class Questions implements ProcessQuestions {
  readonly #parts: StepParts
  readonly #answerers = new Set<Answerer>()
  /** The questions of this process that wait for answers; true: its own subscription has received it. */
  readonly #own = new Map<string, boolean>()
  #answered = 0
  #secondEndsAt = 0

  constructor(parts: StepParts) {
    this.#parts = parts
  }

  answer(answerer: Answerer): () => void {
    this.#answerers.add(answerer)
    return () => {
      this.#answerers.delete(answerer)
    }
  }

  /** Takes a message of the channel that is no notice. */
  receive(message: string): void {
    const [, id = '', question] = message.length > LONGEST_QUESTION ? [] : (QUESTION.exec(message) ?? [])
    if (question === undefined) return
    if (this.#own.has(id)) this.#own.set(id, true)
    else if (this.#mayAnswer()) void this.#answer(id, question)
  }

  async ask(question: string, timeout: number): Promise<Answers | Away> {
    const { steps, runtime } = this.#parts
    const id = runtime.token()
    this.#own.set(id, false)
    try {
      return await steps.run(() => this.#ask(id, question, timeout))
    } finally {
      this.#own.delete(id)
    }
  }

  async #ask(id: string, question: string, timeout: number): Promise<Answers> {
    const { link, redisKeys, runtime } = this.#parts
    const endsAt = runtime.elapsed() + timeout
    const args = ['PUBLISH', redisKeys.channel, `${ASK} ${id} ${question}`]
    const receivers = Number(await link.send(redisKeys.tagSequence, args, 'text'))
    const answers: string[] = []
    // A cluster counts the receivers of one node only.
    const unanswered = (): number | undefined =>
      link.nodes === undefined ? Math.max(0, receivers - Number(this.#own.get(id)) - answers.length) : undefined
    while (unanswered() !== 0 && runtime.elapsed() < endsAt) {
      await new Promise<void>((resolve) => void runtime.schedule(resolve, LOOK_INTERVAL, true))
      answers.push(...(await this.#answersFrom(id, answers.length)))
    }
    const name = redisKeys.answers(id)
    if (answers.length > 0) await link.send(name, ['UNLINK', name], 'text')
    const local = this.#answersTo(question)
    return { kind: 'answers', answers: [...local, ...answers.flatMap(textsIn)], unanswered: unanswered() }
  }

  async #answersFrom(id: string, first: number): Promise<readonly string[]> {
    const name = this.#parts.redisKeys.answers(id)
    const reply = await this.#parts.link.send(name, ['LRANGE', name, String(first), '-1'], 'text')
    return Array.isArray(reply) ? reply.map(String) : []
  }

  #mayAnswer(): boolean {
    const now = this.#parts.runtime.elapsed()
    if (now >= this.#secondEndsAt) {
      this.#secondEndsAt = now + 1000
      this.#answered = 0
    }
    this.#answered += 1
    return this.#answered <= MOST_PER_SECOND
  }

  /** A process whose caches have nothing to say answers, too: nobody has to wait for it. */
  async #answer(id: string, question: string): Promise<void> {
    const { steps, scripts } = this.#parts
    await steps.done(() => scripts.answer(id, JSON.stringify(this.#answersTo(question)), LIMITS))
  }

  #answersTo(question: string): readonly string[] {
    return [...this.#answerers].map((answer) => answer(question)).filter((answer) => answer !== undefined)
  }
}

/** The answers of one process; none in what no process of this library has written. */
function textsIn(text: string): readonly string[] {
  try {
    const list: unknown = JSON.parse(text)
    return Array.isArray(list) ? list.filter((one) => typeof one === 'string') : []
  } catch {
    return []
  }
}
