// Which file may import which, types included: `npm run lint`.

/** The packages, and the others that each may import. */
const packages = {
  core: [],
  explain: ['core'],
  redis: ['core'],
  http: ['core'],
  cli: ['core', 'explain', 'redis', 'http'],
  express: ['core', 'http'],
  fastify: ['core', 'http'],
  nestjs: ['core', 'http', 'express', 'fastify'],
  next: ['core'],
  web: ['core', 'http'],
  metrics: ['core', 'http'],
  testkit: ['core', 'http'],
}

/** The layers of a package, top down: each imports itself and those below it. A file that no layer names is a leaf, below them all. */
const columns = {
  core: {
    index: '(?:index|extend).ts',
    'create-cache': 'cache/create-cache.ts',
    decorator: 'decorator/',
    cache: 'cache/(?!create-cache.ts)',
    batch: 'batch/',
    lookup: 'lookup/',
    claim: 'claim/',
    flight: 'flight/',
    options: 'options/',
    store: 'store/(?!(?:store|answers|process-questions|tag-expiry|refresh-quota|board).ts)',
    policy: 'policy/(?!policy.ts)',
    interfaces: '(?:store/(?:store|answers|process-questions|tag-expiry|refresh-quota|board)|policy/policy).ts',
  },
  redis: {
    index: '(?:index|redis-admin).ts',
    store: '(?:redis-store|store-parts|options|set-up-check|client-settings|inspect|questions|boards).ts',
    leases: 'leases/(?!lease-value.ts)',
    entries: 'entries/(?!record.ts)',
    tags: 'tags/',
    lua: 'lua/',
    notices: 'notices/(?!wake-message.ts)',
    link: 'link/',
    formats: '(?:leases/lease-value|entries/record|notices/wake-message).ts',
  },
  http: {
    index: '(?:index|binding).ts',
    'middleware-exchange': 'node/middleware-exchange.ts',
    'node-exchange': 'node/node-exchange.ts',
    'node-subrequests': 'node/subrequest/',
    serve: 'road/serve.ts',
    entries: '(?:purge|observe)/',
    road: '(?:road/(?!serve.ts|exchange.ts|subrequest.ts)|audit/audited-load.ts)',
    route: 'route/',
    audit: 'audit/(?!audited-load.ts)',
    exchange: 'road/(?:exchange|subrequest).ts',
    node: 'node/(?!middleware-exchange.ts|node-exchange.ts|subrequest/)',
    recorder: 'recorder/',
    response: 'response/',
    request: 'request/',
    fields: 'fields/',
  },
}

const rule = (name, from, to) => ({ name, severity: 'error', from, to })

/** A pattern for the files of these layers. */
function filesOf(name, paths) {
  return `^packages/${name}/src/(?:${paths.join('|').replaceAll('.ts', String.raw`\.ts$`)})`
}

const columnRules = Object.entries(columns).flatMap(([name, layers]) => {
  const rows = Object.entries(layers)
  const downward = rows.slice(1).map(([layer, path], place) => {
    const above = rows.slice(0, place + 1).map(([, files]) => files)
    return rule(`${name}-${layer}-imports-downward`, { path: filesOf(name, [path]) }, { path: filesOf(name, above) })
  })
  const named = filesOf(name, Object.values(layers))
  return [
    ...downward,
    rule(`${name}-leaf-imports-leaves`, { path: `^packages/${name}/src/`, pathNot: named }, { path: named }),
  ]
})

/** The engine sees the interfaces of store and policy; only `create-cache` introduces an implementation. */
const { cache, batch, lookup, claim, flight, store, policy } = columns.core
const engineRules = [
  rule(
    'core-engine-names-no-implementation',
    { path: filesOf('core', [cache, batch, lookup, claim, flight]) },
    { path: filesOf('core', [store, policy]) },
  ),
  rule('core-store-names-no-policy', { path: filesOf('core', [store]) }, { path: filesOf('core', [policy]) }),
]

/** Sharded notices are an option of `notices/`: only its interface knows them. */
const shardedRule = rule(
  'redis-sharded-notices-stay-behind-their-interface',
  { path: '^packages/redis/src/', pathNot: '^packages/redis/src/notices/(?:notices[.]ts$|sharded/)' },
  { path: '^packages/redis/src/notices/sharded/' },
)

/** A package is imported by its name, which leads to its build where there is one. */
function packageRule([name, others]) {
  const allowed = `^(?:packages|@cattlegrid)/(?:${[name, ...others].join('|')})(?:/|$)`
  const to = { path: '^(?:packages|@cattlegrid)/', pathNot: allowed }
  const named = others.length === 0 ? 'no-other-package' : others.join('-and-')
  return rule(`${name}-imports-${named}`, { path: `^packages/${name}/src/` }, to)
}

const packageRules = Object.entries(packages).map(packageRule)

const ownSources = '^((?:packages|examples)/[^/]+)/(?:src|test)/'
/** The one example that another imports, by its name: the page of the demo draws what the lock-lab finds. */
const publishedExample = '^examples/lock-lab/src/index[.]ts$'
const nameRule = rule(
  'published-names-only',
  { path: ownSources },
  { path: ownSources, pathNot: ['^$1/', publishedExample] },
)

export default {
  forbidden: [...columnRules, ...engineRules, shardedRule, ...packageRules, nameRule],
  options: {
    parser: 'swc',
    // Imports of types count, too.
    tsPreCompilationDeps: true,
    doNotFollow: { path: ['node_modules', 'dist'] },
    includeOnly: '^(?:packages|examples|@cattlegrid)/',
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'types'] },
  },
}
