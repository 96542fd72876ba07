// A process that loses leads, and prints who led next and what Node was warned of.
import { setTimeout as rest } from 'node:timers/promises'
import { createCache } from '../../src/index.ts'

const warnings: string[] = []
process.on('warning', (warning) => void warnings.push((warning as NodeJS.ErrnoException).code ?? warning.message))

const cache = createCache({ ttl: '1h', waitTimeout: '2h' })
const claim = async (key: string): Promise<string> =>
  (await cache.claim(key, { hold: '1h', lease: { maxHold: '1h' } })).kind

/** Until the lost leads are handed over: when a callback of a FinalizationRegistry runs is up to V8. */
async function collect<T>(next: Promise<T>): Promise<T | 'nobody'> {
  const over = new AbortController()
  const collecting = async (): Promise<'nobody'> => {
    for (let turn = 0; turn < 100 && !over.signal.aborted; turn += 1) {
      globalThis.gc?.()
      await rest(20)
    }
    return 'nobody'
  }
  const led = await Promise.race([next, collecting()])
  over.abort()
  return led
}

const lost = [await claim('waited for'), await claim('asked for later')]
const next = [await collect(claim('waited for')), await collect(claim('asked for later'))]
const held = await cache.claim('held', { hold: '1h', lease: { maxHold: '1h' } })
const beside = await collect(claim('held'))
if (held.kind === 'lead') await held.commit('value')
console.log(JSON.stringify({ lost, next, beside, warnings }))
process.exit()
