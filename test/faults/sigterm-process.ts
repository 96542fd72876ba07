import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { until } from '../support/until.ts'
import { freePort } from '../free-port.ts'

export const FRAMEWORKS = ['express', 'fastify'] as const
export type Framework = (typeof FRAMEWORKS)[number]

const root = resolve(__dirname, '../..')

/** The shutdown recipes of docs/operations.md, each as a program that runs. */
export class Recipes {
  readonly #folder: string

  constructor() {
    // Inside the repository, so that a recipe finds the packages as its reader does: by name.
    const cache = join(root, 'node_modules/.cache')
    mkdirSync(cache, { recursive: true })
    this.#folder = mkdtempSync(join(cache, 'sigterm-'))
    const page = readFileSync(join(root, 'docs/operations.md'), 'utf8')
    const codes = new Map(
      [...page.matchAll(/```ts sigterm=(\w+)\n([\s\S]*?)```/g)].map(([, name, code]) => [name, code]),
    )
    for (const framework of FRAMEWORKS) this.#write(framework, codes.get(framework))
  }

  file(framework: Framework): string {
    return join(this.#folder, framework, 'server.ts')
  }

  /** What the compiler says of the recipes. */
  async compile(): Promise<string> {
    const settings = {
      extends: join(root, 'tsconfig.test.json'),
      // A rule of this house, and not of the reader's.
      compilerOptions: { noPropertyAccessFromIndexSignature: false, typeRoots: [join(root, 'node_modules/@types')] },
      files: FRAMEWORKS.map((framework) => this.file(framework)),
      include: [],
    }
    writeFileSync(join(this.#folder, 'tsconfig.json'), JSON.stringify(settings))
    const compiler = join(root, 'node_modules/typescript/bin/tsc')
    const said = promisify(execFile)(process.execPath, [compiler, '-p', this.#folder])
    const { stdout } = await said.catch((error: unknown) => error as { readonly stdout: string })
    // The sources of the packages are compiled with them, and have a test of their own.
    return stdout
      .split('\n')
      .filter((line) => line.startsWith('node_modules/.cache/sigterm-'))
      .join('\n')
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true })
  }

  #write(framework: Framework, code: string | undefined): void {
    if (code === undefined) throw new Error(`docs/operations.md has no recipe for ${framework}`)
    const folder = join(this.#folder, framework)
    mkdirSync(folder)
    const shop = JSON.stringify(join(__dirname, 'sigterm-shop.ts'))
    const make = framework === 'express' ? 'expressApp' : 'fastifyApp'
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    writeFileSync(
      join(folder, 'app.ts'),
      `import { ${make} } from ${shop}\nexport { cache, client } from ${shop}\nexport const app = await ${make}()\n`,
    )
    writeFileSync(join(folder, 'server.ts'), code)
  }
}

/** A server of the shop that runs a recipe: it is asked over HTTP, and ended by SIGTERM. */
export class ShopProcess {
  readonly #child: ChildProcess
  readonly #exited: Promise<number | string>
  readonly url: string
  /** How many answers are due. */
  asked = 0

  private constructor(child: ChildProcess, url: string) {
    this.#child = child
    this.url = url
    this.#exited = once(child, 'exit').then(([code, signal]) => (code as number | null) ?? String(signal))
  }

  /** Starts a program, and waits until it answers. */
  static async start(file: string, env: Readonly<Record<string, string>>): Promise<ShopProcess> {
    const port = await freePort()
    const child = spawn(process.execPath, ['--import', '@cattlegrid/run-typescript', file], {
      env: { ...process.env, ...env, PORT: String(port) },
      stdio: ['ignore', 'inherit', 'inherit'],
    })
    const shop = new ShopProcess(child, `http://127.0.0.1:${port}`)
    await until(async () => {
      if (child.exitCode !== null) throw new Error(`${file} ended before it answered`)
      const answered = await fetch(`${shop.url}/nothing`, { headers: { connection: 'close' } }).catch(() => undefined)
      return answered?.status === 404
    })
    return shop
  }

  /** 200 gives the body alone. */
  async ask(path: string): Promise<string> {
    this.asked += 1
    try {
      return await this.#ask(path)
    } finally {
      this.asked -= 1
    }
  }

  /** Whether it takes a new connection. */
  async listens(): Promise<boolean> {
    return await fetch(`${this.url}/nothing`, { headers: { connection: 'close' } }).then(
      () => true,
      () => false,
    )
  }

  /** How it ends after a SIGTERM: its exit code, or the signal that killed it. */
  terminate(): Promise<number | string> {
    this.#child.kill('SIGTERM')
    return this.#exited
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    this.#child.kill('SIGKILL')
    await this.#exited
  }

  async #ask(path: string): Promise<string> {
    const response = await fetch(this.url + path, { headers: { 'x-forwarded-host': 'shop.test' } })
    const body = await response.text()
    return response.status === 200 ? body : `${response.status} ${body}`
  }
}
