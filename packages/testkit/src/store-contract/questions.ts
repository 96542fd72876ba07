import { strict as assert } from 'node:assert'
import type { Store } from '@cattlegrid/core'
import type { ProcessQuestions } from '@cattlegrid/core/extend'
import { onStage, type StoreContract } from './stage.ts'

/** For the answers of one question, ms: a store that cannot count who has it waits so long. */
const PATIENCE = 1000
const QUESTION = '{"kind":"contract"}'

/** Asks until `count` answers came: a subscription that does not stand yet hears no question. */
async function answersOf(questions: ProcessQuestions, count: number): Promise<readonly string[]> {
  const deadline = performance.now() + 10_000
  for (;;) {
    const found = await questions.ask(QUESTION, PATIENCE)
    assert.equal(found.kind, 'answers')
    if (found.answers.length >= count || performance.now() > deadline) return found.answers.toSorted()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** Undefined of a store that does not ask. */
function questionsOf(store: Store): ProcessQuestions | undefined {
  // As every cache does.
  store.watch(() => {})
  return (store as { readonly questions?: ProcessQuestions }).questions
}

/** The questions of one process to all, for diagnosis: a store need not have them. */
export function describeQuestions({ factory, describe, test }: StoreContract): void {
  describe('questions', () => {
    test('reach every process that answers, and each answer comes back once', () =>
      onStage(factory, async ({ here, there }) => {
        const [asking, other] = [questionsOf(here), questionsOf(there)]
        if (asking === undefined || other === undefined) return
        asking.answer((question) => `here: ${question}`)
        other.answer((question) => `there: ${question}`)
        assert.deepEqual(await answersOf(asking, 2), [`here: ${QUESTION}`, `there: ${QUESTION}`])
      }))

    test('are not answered by one that has nothing to say, or answers no more', () =>
      onStage(factory, async ({ here, there }) => {
        const [asking, other] = [questionsOf(here), questionsOf(there)]
        if (asking === undefined || other === undefined) return
        other.answer(() => undefined)
        const stop = other.answer(() => 'late')
        other.answer(() => 'there')
        stop()
        assert.deepEqual(await answersOf(asking, 1), ['there'])
      }))
  })
}
