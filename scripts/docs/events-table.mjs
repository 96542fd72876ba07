// The table of the cache's events: name, fields with their units, meaning.
import { docOf, table } from './docstring.mjs'

/** A number says nothing without its unit; a field that is not here has to be told one first. */
const units = {
  age: 'ms',
  freshFor: 'ms',
  remaining: 'ms',
  took: 'ms',
  ttl: 'ms',
  size: 'bytes',
  cooldown: 'ms',
  waited: 'ms',
  abandoned: 'loads',
  attempt: 'loads in a row',
  call: 'an id',
  flight: 'an id',
  limit: 'loads at once',
  typical: 'ms',
  processes: 'processes',
}

/** @param {import('./regions.mjs').Page} page @param {{ file: string, node: object }} found `CacheEvents` */
export function eventsTable({ tree }, { file, node }) {
  const rows = node.body.body.map((event) => [
    `\`${event.key.name ?? event.key.value}\``,
    event.typeAnnotation.typeAnnotation.members.map((field) => fieldOf(tree, file, field)).join(', '),
    docOf(tree, { file, node: event }),
  ])
  return table(['Event', 'Fields', 'When'], rows)
}

function fieldOf(tree, file, { key: { name }, typeAnnotation: { typeAnnotation: type } }) {
  switch (type.type) {
    case 'TSNumberKeyword':
      if (!Object.hasOwn(units, name)) throw new Error(`${file}: no unit for the field ${name}`)
      return `\`${name}\` (${units[name]})`
    case 'TSBooleanKeyword':
      return `\`${name}\` (true or false)`
    case 'TSUnionType':
      return `\`${name}\` (${type.types.map(({ start, end }) => `\`${tree.text(file).slice(start, end)}\``).join(', ')})`
    default:
      return `\`${name}\``
  }
}
