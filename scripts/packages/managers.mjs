// How each package manager installs into a project.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cache, fromNpm } from '../from-npm.mjs'

/** The scope of the packages that the local registry has; all others come from the registry that npm is set to. */
const SCOPE = 'cattlegrid'

const npmrc = (folder, registry) => writeFileSync(join(folder, '.npmrc'), `@${SCOPE}:registry=${registry}\n`)

/** Yarn 4 reads no `.npmrc`. With Plug'n'Play a package finds only what it declares. */
function yarnrc(folder, registry) {
  const peers = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim()
  const settings = {
    nodeLinker: 'pnp',
    enableGlobalCache: true,
    globalFolder: join(cache, 'yarn-4-cache'),
    enableScripts: false,
    enableTelemetry: false,
    // Yarn waits some days before it installs what is new.
    npmPreapprovedPackages: [`@${SCOPE}/*`],
    npmRegistryServer: peers,
    npmScopes: { [SCOPE]: { npmRegistryServer: registry } },
    unsafeHttpWhitelist: ['127.0.0.1', new URL(peers).hostname],
  }
  // JSON is YAML.
  writeFileSync(join(folder, '.yarnrc.yml'), JSON.stringify(settings))
  writeFileSync(join(folder, 'yarn.lock'), '')
}

/** The command that runs a manager which comes from npm. */
const program = (name, version, file, parameters) => [
  process.execPath,
  join(fromNpm(name, version), 'node_modules', name, file),
  ...parameters,
]

/** `settings` writes what tells the manager where the registry is; `install` is its command for these packages. */
export const managers = {
  npm: {
    settings: npmrc,
    install: (specs) => ['npm', 'install', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error', ...specs],
  },
  pnpm: {
    settings: npmrc,
    install(specs) {
      const settings = ['--ignore-scripts', '--store-dir', join(cache, 'pnpm-store')]
      return program('pnpm', '10.34.9', 'bin/pnpm.cjs', ['add', ...settings, ...specs])
    },
  },
  'yarn 1': {
    settings: npmrc,
    install(specs) {
      const settings = ['--ignore-scripts', '--non-interactive', '--cache-folder', join(cache, 'yarn-1-cache')]
      return program('yarn', '1.22.22', 'bin/yarn.js', ['add', ...settings, ...specs])
    },
  },
  'yarn 4': {
    settings: yarnrc,
    install: (specs) => program('@yarnpkg/cli-dist', '4.18.1', 'bin/yarn.js', ['add', ...specs]),
    nodeOptions: ['--require', './.pnp.cjs'],
  },
}
