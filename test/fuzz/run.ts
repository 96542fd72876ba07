import { parseArgs } from 'node:util'
import * as fc from 'fast-check'
import { differencesOf } from './differences.ts'
import { isOpen } from './open.ts'
import { type Stack, stacks } from './stack.ts'

// The long run, by hand: npm test -- fuzz --stacks 20000 --seed 7; with --open the stacks of known faults, too.
const { values } = parseArgs({
  options: {
    stacks: { type: 'string', default: '2000' },
    seed: { type: 'string', default: '1' },
    open: { type: 'boolean', default: false },
  },
})
const BATCH = 250
const found = new Set<string>()
const played = { stacks: 0, requests: 0 }

/** A difference without its values: each kind is reported once. */
function kindOf(difference: string): string {
  return difference.replaceAll(/"(?:[^"\\]|\\.)*"|\d+/g, '…')
}

async function play(stack: Stack): Promise<void> {
  if (!values.open && isOpen(stack)) return
  played.stacks += 1
  played.requests += 2 * stack.phases.reduce((sum, { steps }) => sum + steps.length, 0)
  const differences = (await differencesOf(stack)).filter((difference) => !found.has(kindOf(difference)))
  if (differences.length > 0) throw new Error(differences.join('\n'))
}

for (let seed = Number(values.seed); played.stacks < Number(values.stacks); seed += 1) {
  const run = await fc.check(fc.asyncProperty(stacks, play), { seed, numRuns: BATCH, plugins: [fc.timeout(20_000)] })
  if (run.failed) {
    const says = run.errorInstance instanceof Error ? run.errorInstance.message : 'no message'
    console.log(`${says}\n  in ${JSON.stringify(run.counterexample)}\n  seed ${seed}`)
    for (const difference of says.split('\n')) found.add(kindOf(difference))
  }
  console.log(`${played.stacks} stacks, ${played.requests} requests, ${found.size} differences`)
}
process.exit(found.size === 0 ? 0 : 1)
