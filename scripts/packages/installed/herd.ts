import { strict as assert } from 'node:assert'

/** Counts the runs of an app's handler, and holds the first run until a herd of requests has arrived. */
export class Herd {
  readonly #size: number
  #runs = 0
  #arrived = 0
  #haveArrived: () => void = () => undefined
  readonly #herd = new Promise<void>((resolve) => (this.#haveArrived = resolve))

  constructor(size = 20) {
    this.#size = size
  }

  /** For each request, before the cache. */
  arrive(): void {
    this.#arrived += 1
    if (this.#arrived === this.#size) this.#haveArrived()
  }

  /** The work of the handler. */
  async run(id: string): Promise<{ id: string; run: number }> {
    this.#runs += 1
    const run = this.#runs
    await this.#herd
    return { id, run }
  }

  /** A herd that runs the handler once, a hit that does not run it, and a miss that does. */
  async visit(origin: string): Promise<void> {
    const herd = await Promise.all(Array.from({ length: this.#size }, () => textAt(`${origin}/products/7`)))
    assert.deepEqual(new Set(herd), new Set(['{"id":"7","run":1}']), 'a herd runs the handler once')
    assert.equal(await textAt(`${origin}/products/7`), '{"id":"7","run":1}', 'a hit does not run it')
    assert.equal(await textAt(`${origin}/products/8`), '{"id":"8","run":2}', 'a miss runs it')
  }
}

async function textAt(url: string): Promise<string> {
  const response = await fetch(url)
  const text = await response.text()
  assert.equal(response.status, 200, text)
  return text
}
