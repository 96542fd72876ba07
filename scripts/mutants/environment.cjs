// One red test shows that a mutant is noticed. The other tests of its file are skipped: without the code many of them would wait in vain.
const { TestEnvironment } = require('jest-environment-node')

let noticed

module.exports = class UntilNoticed extends TestEnvironment {
  handleTestEvent({ name, test }) {
    const mutant = process.env['__STRYKER_ACTIVE_MUTANT__']
    if (mutant === undefined) return
    if (name === 'test_done' && test.errors.length > 0) noticed = mutant
    if (name === 'test_start' && noticed === mutant) test.mode = 'skip'
  }
}
