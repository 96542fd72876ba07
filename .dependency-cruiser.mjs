// Which file may import which, types included: `npm run lint`.

/** The packages, and the others that each may import. */
const packages = {
  core: [],
  redis: ['core'],
  http: ['core'],
  express: ['core', 'http'],
  fastify: ['core', 'http'],
  testkit: ['core', 'http'],
}

/** The layers of core, top down: each imports itself and those below it. What no layer names is a leaf, below them all. */
const column = Object.entries({
  index: 'index.ts',
  'create-cache': 'create-cache.ts',
  decorator: 'decorator/',
  cache: 'cache/ cache.ts engine-cache.ts',
  batch: 'batch/',
  lookup: 'lookup/ many.ts refresh.ts ride.ts',
  refresh: 'refresh/',
  flight:
    'flight/ acquire.ts admission.ts answer.ts batch.ts deck.ts engine.ts flight.ts flights.ts follow.ts former.ts lead.ts lifecycle.ts ' +
    'lookup.ts read-slots.ts running-load.ts wait.ts lease/keep-alive.ts lease/suppression.ts lease/unshareable-keys.ts',
  options: 'options/ options.ts settings.ts parse-options.ts verb-options.ts',
  interfaces: 'store/store.ts policy/policy.ts lease/lease.ts',
})

/** The rest of these folders implements an interface. It imports its own folder, options, interfaces and leaves; `create-cache` introduces it. */
const implementations = Object.entries({ store: 'store/(?!store.ts)', policy: 'policy/(?!policy.ts)' })

const core = '^packages/core/src/'

/** A pattern for the files of these layers. */
function filesOf(layers) {
  const paths = layers.flatMap(([, files]) => files.split(' '))
  return `${core}(?:${paths.join('|').replaceAll('.ts', String.raw`\.ts$`)})`
}

const rule = (name, from, to) => ({ name, severity: 'error', from, to })

const layerRules = column.slice(1).map((layer, place) => {
  const above = column.slice(0, place + 1)
  const hidden = layer[0] === 'create-cache' ? [] : implementations
  return rule(`core-${layer[0]}-imports-downward`, { path: filesOf([layer]) }, { path: filesOf([...above, ...hidden]) })
})

const everything = [...column, ...implementations]
const leafRule = rule(
  'core-leaf-imports-leaves',
  { path: core, pathNot: filesOf(everything) },
  { path: filesOf(everything) },
)

const implementationRules = implementations.map((one) => {
  const engine = column.filter(([name]) => name !== 'options' && name !== 'interfaces')
  const others = implementations.filter((other) => other !== one)
  return rule(`core-${one[0]}-imports-its-own`, { path: filesOf([one]) }, { path: filesOf([...engine, ...others]) })
})

/** A package is imported by its name, which leads to its build where there is one. */
const packageRules = Object.entries(packages).map(([name, others]) => {
  const allowed = `^(?:packages|@cattlegrid)/(?:${[name, ...others].join('|')})(?:/|$)`
  const to = { path: '^(?:packages|@cattlegrid)/', pathNot: allowed }
  return rule(`${name}-imports-${others.join('-and-') || 'no-other-package'}`, { path: `^packages/${name}/src/` }, to)
})

const ownSources = '^((?:packages|examples)/[^/]+)/(?:src|test)/'
const nameRule = rule('published-names-only', { path: ownSources }, { path: ownSources, pathNot: '^$1/' })

export default {
  forbidden: [...layerRules, leafRule, ...implementationRules, ...packageRules, nameRule],
  options: {
    parser: 'swc',
    // Imports of types count, too.
    tsPreCompilationDeps: true,
    doNotFollow: { path: ['node_modules', 'dist'] },
    includeOnly: '^(?:packages|examples|@cattlegrid)/',
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'types'] },
  },
}
