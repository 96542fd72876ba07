// A type in the words of the options page: "duration or `false`", "`'origin'` or `(req, res) => duration`".

const plain = { TSNumberKeyword: 'number', TSStringKeyword: 'string', TSBooleanKeyword: '`true` or `false`' }
const plural = { TSNumberKeyword: 'numbers', TSStringKeyword: 'strings' }
const named = { Duration: 'duration', ByteSize: 'size' }

/** @param {import('./regions.mjs').Page} page @param {string} file where the type stands */
export function accepted(page, file, type) {
  return [...new Set(alternatives(page, file, type))].join(' or ')
}

function alternatives(page, file, type) {
  switch (type.type) {
    case 'TSUnionType':
      return type.types.flatMap((one) => alternatives(page, file, one))
    case 'TSParenthesizedType':
      return alternatives(page, file, type.typeAnnotation)
    case 'TSTypeOperator':
      return alternatives(page, file, type.typeAnnotation)
    case 'TSArrayType':
      return [`list of ${plural[type.elementType.type] ?? sourceOf(page, file, type.elementType)}`]
    case 'TSUndefinedKeyword':
      return []
    case 'TSFunctionType':
      return [`\`${signature(page, file, type)}\``]
    case 'TSTypeReference':
      return reference(page, file, type.typeName.name)
    default:
      return [plain[type.type] ?? `\`${sourceOf(page, file, type)}\``]
  }
}

/** Names alone: what an argument's type is, its editor tells. */
function signature(page, file, { params, returnType }) {
  const names = params.map((one) => (one.type === 'RestElement' ? `...${one.argument.name}` : one.name))
  return `(${names.join(', ')}) => ${sourceOf(page, file, returnType.typeAnnotation)}`
}

function reference(page, file, name) {
  if (name in named) return [named[name]]
  const link = page.link(name)
  if (link !== undefined) return [link]
  const found = page.declarations.find(name, file)
  const alias = found?.node.type === 'TSTypeAliasDeclaration' ? found : undefined
  return alias === undefined ? [`\`${name}\``] : alternatives(page, alias.file, alias.node.typeAnnotation)
}

const sourceOf = ({ tree }, file, { start, end }) => tree.text(file).slice(start, end)
