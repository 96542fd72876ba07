// A plugin of typedoc: names each page of the API reference by the entry that people import, begins each with the name that people use first, and refuses a
// public name without a docstring, and a public function, class or method of a cache without an example.
import { Application, Converter, ReflectionKind } from 'typedoc'

const needsDocs =
  ReflectionKind.Class |
  ReflectionKind.Function |
  ReflectionKind.Interface |
  ReflectionKind.TypeAlias |
  ReflectionKind.Variable

/** `core/dist/esm/decorator` → `@cattlegrid/core/decorator` */
const entryOf = (name) => `@cattlegrid/${name.replace('/dist/esm', '')}`

/** Of a function or a method, that of its first signature. */
const commentOf = (reflection) => reflection.comment ?? reflection.signatures?.[0]?.comment

const isError = ({ extendedTypes = [] }) => extendedTypes.some(({ name }) => name.endsWith('Error'))

/** Errors have theirs at `isCattlegridError`. */
function needsExample(reflection) {
  if (reflection.kindOf(ReflectionKind.Class)) return !isError(reflection)
  if (reflection.kindOf(ReflectionKind.Method)) return reflection.parent.name === 'Cache'
  return reflection.kindOf(ReflectionKind.Function)
}

/** What a reader looks for first on a page; all others follow by the alphabet. */
const first = ['createCache', 'redisStore', 'expressCache', 'default', 'memoryStore', 'Cache', 'Store']

const placeOf = ({ name }) => (first.includes(name) ? first.indexOf(name) : first.length)

/** @param {Application} app */
export function load(app) {
  app.converter.on(
    Converter.EVENT_RESOLVE_END,
    ({ project }) => {
      for (const module of project.getReflectionsByKind(ReflectionKind.Module))
        for (const { children } of module.groups ?? []) children.sort((one, other) => placeOf(one) - placeOf(other))
    },
    // After the groups have been made.
    -1_000,
  )
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const module of project.getReflectionsByKind(ReflectionKind.Module)) module.name = entryOf(module.name)
  })
  app.on(Application.EVENT_VALIDATE_PROJECT, (project) => {
    const cacheMethods = project.getReflectionsByKind(ReflectionKind.Method).filter(needsExample)
    for (const reflection of [...project.getReflectionsByKind(needsDocs), ...cacheMethods]) {
      const comment = commentOf(reflection)
      const name = reflection.getFullName()
      if (comment === undefined) app.logger.validationWarning(`${name} has no doc comment`)
      else if (needsExample(reflection) && comment.getTag('@example') === undefined)
        app.logger.validationWarning(`${name} has no @example`)
    }
  })
}
