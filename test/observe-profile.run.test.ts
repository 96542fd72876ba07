import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { parse } from 'yaml'
import { checkConfiguration } from './support/prometheus.ts'

// No Docker here: the files of the profile are laid out as its containers see them, and read by what can run.

interface Service {
  readonly profiles?: readonly string[]
  readonly network_mode?: string
  readonly command?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly volumes?: readonly string[]
}

interface Dashboard {
  readonly uid: string
  readonly panels: readonly object[]
}

const { services } = parse(readFileSync('docker-compose.yml', 'utf8')) as {
  readonly services: Readonly<Record<string, Service>>
}
const { prometheus = {}, grafana = {} } = services

/** The folder that stands for the root of each container. */
const roots = new Map<Service, string>()

beforeAll(() => {
  for (const service of [prometheus, grafana]) {
    const root = mkdtempSync(join(tmpdir(), 'cattlegrid-observe-'))
    roots.set(service, root)
    for (const mount of service.volumes ?? []) {
      const [source = '', target = ''] = mount.split(':')
      cpSync(source, join(root, target))
    }
  }
})

afterAll(() => {
  for (const root of roots.values()) rmSync(root, { recursive: true })
})

function inContainer(service: Service, file: string): string {
  return join(roots.get(service) ?? '', file)
}

function read(service: Service, file: string): unknown {
  return parse(readFileSync(inContainer(service, file), 'utf8'))
}

/** The value of a flag such as `--config.file=…`. */
function flagOf({ command = [] }: Service, name: string): string {
  const found = command.find((flag) => flag.startsWith(`${name}=`))
  return found?.slice(name.length + 1) ?? ''
}

test('only the profile starts Prometheus and Grafana, in the network where the example listens', () => {
  const profiles = Object.entries(services).map(([name, service]) => [name, service.profiles, service.network_mode])
  expect(profiles).toEqual([
    ['redis', undefined, undefined],
    ['postgres', undefined, undefined],
    ['prometheus', ['observe'], 'host'],
    ['grafana', ['observe'], 'host'],
  ])
})

test('promtool accepts the configuration of Prometheus, and finds the alert rules that it names', () => {
  const file = inContainer(prometheus, flagOf(prometheus, '--config.file'))
  expect(() => checkConfiguration(file)).not.toThrow()
  rmSync(inContainer(prometheus, '/etc/prometheus/alerts.yml'))
  expect(() => checkConfiguration(file)).toThrow('alerts.yml')
}, 300_000)

test('Grafana asks the Prometheus of the profile, and shows the dashboard of the package', () => {
  const { datasources } = read(grafana, '/etc/grafana/provisioning/datasources/cattlegrid.yml') as {
    readonly datasources: readonly { readonly type: string; readonly url: string }[]
  }
  const url = `http://${flagOf(prometheus, '--web.listen-address')}`
  expect(datasources).toMatchObject([{ type: 'prometheus', url }])
  const { providers } = read(grafana, '/etc/grafana/provisioning/dashboards/cattlegrid.yml') as {
    readonly providers: readonly { readonly options: { readonly path: string } }[]
  }
  const shown = providers.map(({ options }) => read(grafana, `${options.path}/cattlegrid.json`) as Dashboard)
  const dashboard = JSON.parse(readFileSync('packages/metrics/grafana/dashboard.json', 'utf8')) as Dashboard
  expect(shown).toEqual([dashboard])
  const address = `http://${grafana.environment?.['GF_SERVER_HTTP_ADDR']}:${grafana.environment?.['GF_SERVER_HTTP_PORT']}`
  expect(readFileSync('docker-compose.yml', 'utf8')).toContain(`# ${address}/d/${dashboard.uid}`)
})
