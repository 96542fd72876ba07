import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { FRAMEWORKS, type Recipes, ShopProcess } from './sigterm-process.ts'

/** A source whose loads take a while, and which notes when each began. */
export class SlowSource {
  /** When each load began, by key, ms. */
  readonly loads = new Map<string, number[]>()
  readonly #server = createServer((request, response) => {
    const key = request.url ?? ''
    const begun = this.loads.get(key) ?? []
    this.loads.set(key, begun)
    begun.push(performance.now())
    const number = begun.length
    setTimeout(() => response.end(`${key} load ${number}`), this.#takes)
  })
  readonly #takes: number

  constructor(takes: number) {
    this.#takes = takes
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  stop(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }
}

/** ms; much shorter than a load, so that processes are ended in the middle of some. */
const PRE_STOP = 500

/** Four processes, two on each framework, each with its recipe; replaced one at a time. */
export class Deployment {
  readonly namespace = `rolling-${randomUUID()}`
  /** How many answers were still due, in all, when processes were told to end. */
  answering = 0
  readonly #recipes: Recipes
  readonly #env: Readonly<Record<string, string>>
  readonly #all: ShopProcess[] = []
  /** Who is sent requests. */
  #inService: ShopProcess[] = []

  constructor(recipes: Recipes, env: Readonly<Record<string, string>>) {
    this.#recipes = recipes
    this.#env = { ...env, SHOP_NAMESPACE: this.namespace }
  }

  async start(size: number): Promise<void> {
    this.#inService = await Promise.all(Array.from({ length: size }, (_, place) => this.#start(place)))
  }

  /** The one whose turn it is. */
  at(turn: number): ShopProcess {
    const shop = this.#inService[turn % this.#inService.length]
    if (shop === undefined) throw new Error('Nobody is in service')
    return shop
  }

  get size(): number {
    return this.#inService.length
  }

  /**
   * Sends the process no more requests, ends it when those that were sent have arrived, which is what the `preStop` sleep is for, and puts a
   * new one in its place. Returns how it ended.
   */
  async replace(place: number): Promise<number | string> {
    const leaving = this.at(place)
    this.#inService = this.#inService.filter((shop) => shop !== leaving)
    await new Promise((resolve) => setTimeout(resolve, PRE_STOP))
    // It has taken whatever came before this.
    await leaving.listens()
    this.answering += leaving.asked
    const ended = await leaving.terminate()
    const coming = await this.#start(place)
    this.#inService = this.#inService.toSpliced(place, 0, coming)
    return ended
  }

  async stop(): Promise<void> {
    await Promise.all(this.#all.map((shop) => shop.kill()))
  }

  async #start(place: number): Promise<ShopProcess> {
    const framework = FRAMEWORKS[place % FRAMEWORKS.length] ?? 'express'
    const shop = await ShopProcess.start(this.#recipes.file(framework), this.#env)
    this.#all.push(shop)
    return shop
  }
}

/** Clients who ask one process after the other without a pause, until they are told to stop. */
export class SteadyLoad {
  /** How many answers there were, and those that were no answer. */
  answers = 0
  readonly failures: string[] = []
  readonly #deployment: Deployment
  readonly #paths: readonly string[]
  readonly #clients: Promise<void>[]
  #turn = 0
  #over = false

  constructor(deployment: Deployment, paths: readonly string[], clients: number) {
    this.#deployment = deployment
    this.#paths = paths
    this.#clients = Array.from({ length: clients }, () => this.#ask())
  }

  async stop(): Promise<void> {
    this.#over = true
    await Promise.all(this.#clients)
  }

  async #ask(): Promise<void> {
    while (!this.#over) {
      const turn = (this.#turn += 1)
      const path = this.#paths[Math.floor(Math.random() * this.#paths.length)] ?? ''
      const answer = await this.#deployment.at(turn).ask(path).catch(String)
      if (/^\/\S+ load \d+$/.test(answer)) this.answers += 1
      else this.failures.push(`${path}: ${answer}`)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }
}
