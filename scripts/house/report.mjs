/**
 * One line for a check, then one for each fault; any fault fails the process.
 * @param {string} name
 * @param {import('./tree.mjs').Finding} finding
 */
export function report(name, { looked, faults }) {
  console.log(
    `${faults.length === 0 ? 'ok  ' : 'FAIL'} ${name.padEnd(10)} ${looked}${faults.length === 0 ? '' : `, ${faults.length} faults`}`,
  )
  for (const { file, line, message } of faults) console.log(`     ${file}:${line}  ${message}`)
  if (faults.length > 0) process.exitCode = 1
}
