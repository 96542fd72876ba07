// One red test shows that a mutant is noticed. The other test files are not even read.
const { default: TestRunner } = require('jest-runner')

module.exports = class UntilNoticed extends TestRunner {
  async runTests(tests, watcher, options) {
    const stop = this.on('test-file-success', ([, { numFailingTests }]) => {
      const isMutant = process.env['__STRYKER_ACTIVE_MUTANT__'] !== undefined
      if (isMutant && numFailingTests > 0) watcher.setState({ interrupted: true })
    })
    await super.runTests(tests, watcher, options)
    stop()
  }
}
