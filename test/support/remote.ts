// The fault-injecting store of core's tests, for the tests of other packages.
export { Remote } from '../../packages/core/test/support/remote.ts'
