// A type in the words of the options page: "duration or `false`", "`'origin'` or `(req, res) => duration`".

const plain = { TSNumberKeyword: 'number', TSStringKeyword: 'string', TSBooleanKeyword: '`true` or `false`' }
const plural = { TSNumberKeyword: 'numbers', TSStringKeyword: 'strings' }
const named = { Duration: 'duration', ByteSize: 'size' }

/** @param {import('./regions.mjs').Page} page @param {string} file where the type stands */
export function accepted(page, file, type) {
  return [...new Set(alternatives(page, file, type))].join(' or ')
}

function alternatives(page, file, type) {
  const source = ({ start, end }) => page.tree.text(file).slice(start, end)
  switch (type.type) {
    case 'TSUnionType':
      return type.types.flatMap((one) => alternatives(page, file, one))
    case 'TSParenthesizedType':
    case 'TSTypeOperator':
      return alternatives(page, file, type.typeAnnotation)
    case 'TSArrayType':
      return [`list of ${plural[type.elementType.type] ?? source(type.elementType)}`]
    case 'TSUndefinedKeyword':
      return []
    case 'TSFunctionType':
      return [`\`(${type.params.map(nameOf).join(', ')}) => ${source(type.returnType.typeAnnotation)}\``]
    case 'TSTypeReference':
      return reference(page, file, type.typeName.name)
    default:
      return [plain[type.type] ?? `\`${source(type)}\``]
  }
}

const nameOf = (one) => (one.type === 'RestElement' ? `...${one.argument.name}` : one.name)

function reference(page, file, name) {
  const known = named[name] ?? page.link(name)
  if (known !== undefined) return [known]
  const found = page.declarations.find(name, file)
  if (found?.node.type !== 'TSTypeAliasDeclaration') return [`\`${name}\``]
  return alternatives(page, found.file, found.node.typeAnnotation)
}
