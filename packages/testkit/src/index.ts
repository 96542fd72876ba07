export { createManualRuntime, type ManualRuntime, type ManualRuntimeOptions } from './manual-runtime.ts'
