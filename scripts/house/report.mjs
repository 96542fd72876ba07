/**
 * One line for a check, then one for each fault. A check with a fault has not passed, and neither has one that found nothing to
 * look at: what it guards has moved, and it would be green for ever.
 * @param {string} name
 * @param {import('./tree.mjs').Finding} finding
 * @returns {{ passed: boolean, text: string }}
 */
export function report(name, { looked, faults }) {
  const blind = looked.startsWith('0 ')
  const passed = faults.length === 0 && !blind
  const count = faults.length === 0 ? '' : `, ${faults.length} ${faults.length === 1 ? 'fault' : 'faults'}`
  const lines = [`${passed ? 'ok  ' : 'FAIL'} ${name.padEnd(10)} ${looked}${count}`]
  if (blind) lines.push('     found nothing to look at: tell the check where it moved')
  for (const { file, line, message } of faults) lines.push(`     ${file}:${line}  ${message}`)
  return { passed, text: lines.join('\n') }
}
