import { strict as assert } from 'node:assert'
import type { Store } from '@cattlegrid/core'
import { onStage, type StoreContract } from './stage.ts'

/** For the answers of one question, ms: a store that cannot count who has it waits so long. */
const PATIENCE = 1000
const QUESTION = '{"kind":"contract"}'

/** What a store that asks has. */
type Questioning = { readonly [M in 'askProcesses' | 'answerQuestions']: NonNullable<Store[M]> }

/** Asks until `count` answers came: a subscription that does not stand yet hears no question. */
async function answersOf({ askProcesses }: Questioning, count: number): Promise<readonly string[]> {
  const deadline = performance.now() + 10_000
  for (;;) {
    const found = await askProcesses(QUESTION, PATIENCE)
    assert.equal(found.kind, 'answers')
    if (found.answers.length >= count || performance.now() > deadline) return found.answers.toSorted()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** Undefined of a store that does not ask. */
function questioning(store: Store): Questioning | undefined {
  const { askProcesses, answerQuestions } = store
  assert.equal(
    askProcesses === undefined,
    answerQuestions === undefined,
    'a store that asks answers, and the other way round',
  )
  if (askProcesses === undefined || answerQuestions === undefined) return undefined
  // As every cache does.
  store.watch(() => {})
  return { askProcesses: askProcesses.bind(store), answerQuestions: answerQuestions.bind(store) }
}

/** The questions of one process to all, for diagnosis: a store need not have them. */
export function describeQuestions({ factory, describe, test }: StoreContract): void {
  describe('questions', () => {
    test('reach every process that answers, and each answer comes back once', () =>
      onStage(factory, async ({ here, there }) => {
        const [asking, other] = [questioning(here), questioning(there)]
        if (asking === undefined || other === undefined) return
        asking.answerQuestions((question) => `here: ${question}`)
        other.answerQuestions((question) => `there: ${question}`)
        assert.deepEqual(await answersOf(asking, 2), [`here: ${QUESTION}`, `there: ${QUESTION}`])
      }))

    test('are not answered by one that has nothing to say, or answers no more', () =>
      onStage(factory, async ({ here, there }) => {
        const [asking, other] = [questioning(here), questioning(there)]
        if (asking === undefined || other === undefined) return
        other.answerQuestions(() => undefined)
        const stop = other.answerQuestions(() => 'late')
        other.answerQuestions(() => 'there')
        stop()
        assert.deepEqual(await answersOf(asking, 1), ['there'])
      }))
  })
}
