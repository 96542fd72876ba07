/**
 * One line for a check, then one for each fault. A fault fails the process, and so does a check that found nothing to
 * look at: what it guards has moved, and it would be green for ever.
 * @param {string} name
 * @param {import('./tree.mjs').Finding} finding
 */
export function report(name, { looked, faults }) {
  const blind = looked.startsWith('0 ')
  const passed = faults.length === 0 && !blind
  const count = faults.length === 0 ? '' : `, ${faults.length} ${faults.length === 1 ? 'fault' : 'faults'}`
  console.log(`${passed ? 'ok  ' : 'FAIL'} ${name.padEnd(10)} ${looked}${count}`)
  if (blind) console.log('     found nothing to look at: tell the check where it moved')
  for (const { file, line, message } of faults) console.log(`     ${file}:${line}  ${message}`)
  if (!passed) process.exitCode = 1
}
