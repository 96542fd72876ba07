import type { EngineServices } from '../flight/engine-services.ts'
import type { CallState, LookupResult } from './lookup-result.ts'

/** Settles as `answering` does; first emits the answer, if the call has missed or failed: one that is aborted during its read has neither hit nor missed. */
export function emitAnswer(
  { events }: EngineServices,
  key: string,
  state: CallState,
  answering: Promise<LookupResult>,
): Promise<LookupResult> {
  return answering.then(
    (result) => {
      const { status, from, role, age, waited } = result
      if (state.missed)
        events.emit('answer', { key, call: state.id, status, from, role, age, waited, error: undefined })
      return result
    },
    (error: unknown) => {
      const { waited } = state
      const failed = { status: 'failed', from: undefined, role: undefined, age: 0 } as const
      events.emit('answer', { key, call: state.id, ...failed, waited, error })
      throw error
    },
  )
}
