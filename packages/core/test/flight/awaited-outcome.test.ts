import { expect, it, jest } from '@jest/globals'
import { AdmissionControl } from '../../src/flight/admission-control.ts'
import { Flight } from '../../src/flight/flight.ts'

it('the refresh of a stale hit asks its flight only once somebody awaits it: what it attached would live as long as the load', async () => {
  const flight = new Flight('key', 1, true)
  const asked = jest.spyOn(flight, 'outcome', 'get')
  const refresh = new AdmissionControl({ maxLoads: 1, maxWaiters: 1, maxWaitersPerKey: 1 }).awaitedOutcome(flight)
  flight.settle({ kind: 'retry' }, { kind: 'committed' })
  expect(asked).not.toHaveBeenCalled()
  expect(await refresh).toEqual({ kind: 'committed' })
  expect(asked).toHaveBeenCalled()
})

it('the refresh of a stale hit settles for each that awaits it, before and after the load', async () => {
  const flight = new Flight('key', 1, true)
  const refresh = new AdmissionControl({ maxLoads: 1, maxWaiters: 1, maxWaitersPerKey: 1 }).awaitedOutcome(flight)
  const waiting = [refresh, refresh.then((outcome) => outcome), refresh.finally(() => undefined)]
  flight.settle({ kind: 'retry' }, { kind: 'committed' })
  const settled = await Promise.all([...waiting, refresh])
  expect(settled).toEqual([{ kind: 'committed' }, { kind: 'committed' }, { kind: 'committed' }, { kind: 'committed' }])
})
