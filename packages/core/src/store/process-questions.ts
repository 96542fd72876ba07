import type { Away } from './answers.ts'

/**
 * Questions between the processes that use a store, as texts, for diagnosis. A store that carries them has a
 * member `questions` beside the interface `Store`. Nothing is kept or sent while nobody asks.
 */
export interface ProcessQuestions {
  /**
   * Calls `answer` for each question of another process, until the returned function is called. Undefined is
   * not sent.
   */
  answer(answer: (question: string) => string | undefined): () => void
  /**
   * Asks the other caches, those in this process included. Waits for `timeout` ms, or until all
   * have answered.
   */
  ask(question: string, timeout: number): Promise<Answers | Away>
}

/** The answers to a question. */
export interface Answers {
  readonly kind: 'answers'
  readonly answers: readonly string[]
  /**
   * The number of processes that received the question and did not answer in time. Undefined: the store
   * cannot tell.
   */
  readonly unanswered: number | undefined
}
