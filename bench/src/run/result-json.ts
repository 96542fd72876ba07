/**
 * JSON of a kept result: every object of a list has a line to itself, so that a diff shows the rows that changed.
 * What holds such a list has a line for each of its fields.
 */
export function resultJson(result: object, replacer?: (key: string, value: unknown) => unknown): string {
  return `${lines(JSON.parse(JSON.stringify(result, replacer)))}\n`
}

function lines(value: unknown, indent = ''): string {
  if (!isObject(value) || !holdsRows(value)) return JSON.stringify(value)
  const inner = `${indent}  `
  const parts = Array.isArray(value)
    ? value.map((one) => inner + lines(one, inner))
    : Object.entries(value).map(([name, one]) => `${inner}${JSON.stringify(name)}: ${lines(one, inner)}`)
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  return `${open}\n${parts.join(',\n')}\n${indent}${close}`
}

/** Whether a list of objects is somewhere in it. */
function holdsRows(value: object): boolean {
  const parts = Object.values(value).filter(isObject)
  return (Array.isArray(value) && parts.length > 0 && !parts.every(Array.isArray)) || parts.some(holdsRows)
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
