import { expect, test } from '@jest/globals'
import { createCleanup } from '../src/demo/cleanup.ts'

function recorder() {
  const log: string[] = []
  const step = (name: string) => async () => {
    log.push(name)
  }
  return { log, step }
}

test('what was started last is taken down first', async () => {
  const { log, step } = recorder()
  const cleanup = createCleanup(() => {})
  cleanup.defer(step('database'))
  cleanup.defer(step('api'))
  await cleanup.run()
  expect(log).toEqual(['api', 'database'])
})

test('a step that fails is reported and the others still run', async () => {
  const { log, step } = recorder()
  const errors: unknown[] = []
  const cleanup = createCleanup((error) => errors.push(error))
  const failure = new Error('no')
  cleanup.defer(step('database'))
  cleanup.defer(() => Promise.reject(failure))
  await cleanup.run()
  expect(log).toEqual(['database'])
  expect(errors).toEqual([failure])
})

test('a step runs once, however often the clean-up is asked for', async () => {
  const { log, step } = recorder()
  const cleanup = createCleanup(() => {})
  cleanup.defer(step('api'))
  await Promise.all([cleanup.run(), cleanup.run()])
  await cleanup.run()
  expect(log).toEqual(['api'])
})

test('what is started while the clean-up runs is taken down too, before it ends', async () => {
  const { log, step } = recorder()
  const cleanup = createCleanup(() => {})
  cleanup.defer(async () => {
    log.push('first')
    await new Promise((resolve) => setImmediate(resolve))
    cleanup.defer(step('late'))
  })
  await cleanup.run()
  expect(log).toEqual(['first', 'late'])
})

test('what is started after the clean-up is taken down at once', async () => {
  const { log, step } = recorder()
  const cleanup = createCleanup(() => {})
  await cleanup.run()
  cleanup.defer(step('late'))
  await cleanup.run()
  expect(log).toEqual(['late'])
})
