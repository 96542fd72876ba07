import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { type Files, runOn } from './house/broken-law.ts'

const root = resolve(__dirname, '..')

const manifest = (name: string, more: object = {}): string =>
  JSON.stringify({ name, version: '1.2.0', publishConfig: { access: 'public', provenance: true }, ...more })

/** What npm writes of them: the second package is found by a link, and uses one that is not of this repository. */
const lock = {
  lockfileVersion: 3,
  packages: {
    'node_modules/@made-up/base': { resolved: 'packages/base', link: true },
    'packages/base': {
      name: '@made-up/base',
      version: '1.2.0',
      dependencies: { far: '^3.0.0' },
      devDependencies: { tool: '*' },
    },
    'node_modules/far': { version: '3.1.4', license: 'MIT', integrity: `sha512-${'A'.repeat(86)}==` },
    'node_modules/tool': { version: '9.9.9', dev: true },
  },
}

/** Two public packages, of which the first depends on the second, and a private one. */
const tree: Files = {
  'package.json': '{ "private": true, "workspaces": ["packages/*"] }',
  'package-lock.json': JSON.stringify(lock),
  'CHANGELOG.md': '# Changelog\n\n## [1.2.0] - 2026-01-01\n',
  'packages/api/package.json': manifest('@made-up/api', { dependencies: { '@made-up/base': '1.2.0' } }),
  'packages/base/package.json': manifest('@made-up/base', {
    dependencies: { far: '^3.0.0' },
    devDependencies: { tool: '*' },
  }),
  'packages/secret/package.json': manifest('@made-up/secret', { private: true }),
}

interface Bill {
  readonly bomFormat: string
  readonly metadata: { readonly component: object }
  readonly components: readonly { readonly purl: string }[]
}

/** A registry that keeps what it is asked. */
let registry: Server
let host = ''
let asked: string[] = []
let published: string[] = []

beforeAll(async () => {
  registry = createServer((request, response) => {
    const name = decodeURIComponent(request.url ?? '').slice(1)
    asked.push(`${request.method} ${name}`)
    request.resume()
    if (request.method === 'PUT') return void response.writeHead(201).end('{"ok":true}')
    if (!published.includes(name)) return void response.writeHead(404).end('{"error":"not found"}')
    response.end(
      JSON.stringify({ name, 'dist-tags': { latest: '1.2.0' }, versions: { '1.2.0': { name, version: '1.2.0' } } }),
    )
  }).listen(0, '127.0.0.1')
  await new Promise((listening) => registry.once('listening', listening))
  const { port } = registry.address() as AddressInfo
  host = `127.0.0.1:${port}`
})

beforeEach(() => {
  asked = []
  published = []
})

afterAll(() => {
  registry.closeAllConnections()
  registry.close()
})

const release = (files: Files, ...options: string[]) =>
  runOn(
    { '.npmrc': `//${host}/:_authToken=of-the-test\n`, ...files },
    'scripts/release.mjs',
    '--root',
    '.',
    '--registry',
    `http://${host}/`,
    ...options,
  )

describe('npm run release', () => {
  it('says what it would publish, and asks no registry, when it runs dry', async () => {
    const { failed, text } = await release(tree, '--dry-run')
    expect(failed).toBe(false)
    expect(text.split('\n')).toEqual([
      '@made-up/base 1.2.0, 1 KB, 1 files',
      '  bill of materials: sbom/made-up-base-1.2.0.cdx.json',
      '  npm publish made-up-base-1.2.0.tgz --access public --provenance: would be published',
      '@made-up/api 1.2.0, 1 KB, 1 files',
      '  bill of materials: sbom/made-up-api-1.2.0.cdx.json',
      '  npm publish made-up-api-1.2.0.tgz --access public --provenance: would be published',
      '',
    ])
    expect(asked).toEqual([])
  })

  it('writes a bill of materials for each package: what a user installs with it, and no tool', async () => {
    const { cwd } = await release(tree, '--dry-run')
    const bill = JSON.parse(readFileSync(join(cwd, 'sbom/made-up-api-1.2.0.cdx.json'), 'utf8')) as Bill
    expect(bill.bomFormat).toBe('CycloneDX')
    expect(bill.metadata.component).toMatchObject({ name: '@made-up/api', purl: 'pkg:npm/%40made-up/api@1.2.0' })
    expect(bill.components.map(({ purl }) => purl)).toEqual(['pkg:npm/%40made-up/base@1.2.0', 'pkg:npm/far@3.1.4'])
    expect(bill.components[1]).toMatchObject({ hashes: [{ alg: 'SHA-512' }], licenses: [{ license: { id: 'MIT' } }] })
  })

  it('names a dependency that the lock file does not have', async () => {
    const { failed, text } = await release({ ...tree, 'package-lock.json': '{ "packages": {} }' }, '--dry-run')
    expect(failed).toBe(true)
    expect(text).toContain('package-lock.json has no far, which packages/base depends on')
  })

  it('publishes the public packages, a dependency first, and no private one', async () => {
    const { failed, text } = await release(tree, '--no-provenance')
    expect(text).toMatch(/base-1\.2\.0\.tgz .*: published\n.*\n.*\n.*api-1\.2\.0\.tgz .*: published\n$/)
    expect(asked.filter((one) => one.startsWith('PUT'))).toEqual(['PUT @made-up/base', 'PUT @made-up/api'])
    expect(failed).toBe(false)
  })

  it('leaves out what the registry has already', async () => {
    published = ['@made-up/base']
    const { text } = await release(tree, '--no-provenance')
    expect(text).toMatch(/base-1\.2\.0\.tgz .*: was published before\n.*\n.*\n.*api-1\.2\.0\.tgz .*: published\n$/)
    expect(asked.filter((one) => one.startsWith('PUT'))).toEqual(['PUT @made-up/api'])
  })

  it('refuses to publish with provenance outside of the workflow', async () => {
    const { failed, text } = await release(tree)
    expect(failed).toBe(true)
    expect(text).toMatch(/provenance/)
    expect(asked.filter((one) => one.startsWith('PUT'))).toEqual([])
  })

  it('names the lines of the README and of the site that are true only until the first release', async () => {
    const text = '# Made up\n\n<!-- badges: hidden\n-->\n\nThe packages are not on npm yet.\n'
    const files = { 'README.md': text, 'docs/index.md': '# Made up\n\nThey are not on npm yet.\n' }
    const first = await release({ ...tree, ...files }, '--no-provenance')
    expect(first.text).toContain('these lines say otherwise: README.md:3, README.md:6, docs/index.md:3\n')
    const later = await release({ ...tree, 'README.md': '# Made up\n' }, '--no-provenance')
    expect(later.text).not.toContain('README.md')
  })

  it('refuses a version of which the changelog says nothing', async () => {
    const { failed, text } = await release({ ...tree, 'CHANGELOG.md': '# Changelog\n' }, '--no-provenance')
    expect(failed).toBe(true)
    expect(text).toContain('CHANGELOG.md has no section [1.2.0]')
    expect(asked).toEqual([])
  })
})

describe('the badges of the README', () => {
  const [hidden = ''] = /^<!-- badges: [\s\S]*?^-->$/m.exec(readFileSync(join(root, 'README.md'), 'utf8')) ?? []

  it('lead to what is there once the packages are published', () => {
    const links = [...hidden.matchAll(/\]\(([^)]*)\)(?=\]|$)/gm)].map(([, link = '']) => link)
    const there = (link: string): boolean => {
      const [, workflow] = /\/actions\/workflows\/([\w.]+)/.exec(link) ?? []
      const [, name] = /\/(?:v|l|unpacked-size|package)\/@cattlegrid\/(\w+)/.exec(link) ?? []
      if (workflow !== undefined) return existsSync(join(root, '.github/workflows', workflow))
      if (name !== undefined) return existsSync(join(root, 'packages', name))
      const [path = ''] = link.split('#')
      return link.startsWith('https://img.shields.io/badge/') || existsSync(join(root, path))
    }
    expect(links.length).toBe(10)
    expect(links.filter((link) => !there(link))).toEqual([])
  })

  it('are the only images from elsewhere, and hidden while the README says that the packages are not on npm', () => {
    const shown = readFileSync(join(root, 'README.md'), 'utf8').replace(hidden, '')
    expect(shown).toContain('not on npm yet')
    expect(shown).not.toMatch(/!\[[^\]]*\]\(https?:/)
  })
})

/** The manifests of this repository, with these changesets. */
function workspace(changesets: Files): Files {
  const { workspaces } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { workspaces: string[] }
  const folders = workspaces.flatMap((pattern) => {
    const [folder = ''] = pattern.split('/*')
    return folder === pattern ? [folder] : readdirSync(join(root, folder)).map((name) => `${folder}/${name}`)
  })
  const files = [
    'package.json',
    ...folders.map((folder) => `${folder}/package.json`),
    'package-lock.json',
    '.changeset/config.json',
  ]
  return {
    ...Object.fromEntries(files.map((file) => [file, readFileSync(join(root, file), 'utf8')])),
    'CHANGELOG.md': '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- By hand.\n\n## [0.0.1] - 2026-01-01\n',
    ...changesets,
  }
}

const changeset = (name: string, kind: string, text: string): string => `---\n"${name}": ${kind}\n---\n\n${text}\n`

describe('npm run release -- version', () => {
  it('gives all packages one version, also those that ask for another, and the changelog its section', async () => {
    const files = workspace({
      '.changeset/one.md': changeset('@cattlegrid/http', 'minor', 'An option more.\nIt has two lines.'),
      '.changeset/two.md': changeset('@cattlegrid/fastify', 'patch', 'A fault less.'),
    })
    const { failed, text, cwd } = await runOn(files, 'scripts/release-version.mjs', '--root', '.')
    expect(text).toMatch(/tag the commit v0\.2\.0/)
    expect(failed).toBe(false)
    const read = (file: string): string => readFileSync(join(cwd, file), 'utf8')
    const json = (file: string) => JSON.parse(read(file)) as Record<string, unknown>
    for (const name of readdirSync(join(root, 'packages'))) {
      const { version, dependencies = {} } = json(`packages/${name}/package.json`)
      const own = Object.entries(dependencies as object).filter(([dependency]) => dependency.startsWith('@cattlegrid/'))
      expect([version, ...own.map(([, range]) => range as unknown)]).toEqual(['0.2.0', ...own.map(() => '0.2.0')])
    }
    expect(json('examples/express-minimal/package.json')).toMatchObject({
      version: '0.1.0',
      dependencies: { '@cattlegrid/core': '0.2.0' },
    })
    expect(readdirSync(join(cwd, '.changeset'))).toEqual(['config.json'])
    expect(read('CHANGELOG.md').replace(/\d{4}-\d\d-\d\d\n\n/, 'today\n\n')).toBe(
      '# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - today\n\n### Added\n\n- By hand.\n\n' +
        '### Added or changed\n\n- An option more.\n  It has two lines.\n\n### Fixed\n\n- A fault less.\n\n## [0.0.1] - 2026-01-01\n',
    )
  })

  it('leaves the version of the first release, for which there is no changeset', async () => {
    const { text, cwd } = await runOn(workspace({}), 'scripts/release-version.mjs', '--root', '.')
    expect(text).toMatch(/tag the commit v0\.1\.0/)
    expect(readFileSync(join(cwd, 'CHANGELOG.md'), 'utf8')).toMatch(
      /## \[Unreleased\]\n\n## \[0\.1\.0\] - .*\n\n### Added\n\n- By hand\./,
    )
  })

  it('refuses a second section of one version', async () => {
    const files = { ...workspace({}), 'CHANGELOG.md': '# Changelog\n\n## [Unreleased]\n\n## [0.1.0] - 2026-01-01\n' }
    const { failed, text } = await runOn(files, 'scripts/release-version.mjs', '--root', '.')
    expect(failed).toBe(true)
    expect(text).toContain('no changeset asks for another version')
  })
})
