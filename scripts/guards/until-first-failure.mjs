// Where one red test is enough, the rest of its file need not run: without a guard many tests may wait in vain.
import { createRequire } from 'node:module'

const { TestEnvironment } = createRequire(import.meta.url)('jest-environment-node')

export default class UntilFirstFailure extends TestEnvironment {
  #failed = false

  handleTestEvent({ name, test }) {
    if (name === 'test_done' && test.errors.length > 0) this.#failed = true
    if (name === 'test_start' && this.#failed) test.mode = 'skip'
  }
}
