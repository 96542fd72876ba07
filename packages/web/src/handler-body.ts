import { setImmediate } from 'node:timers'
import type { Recording } from '@cattlegrid/http'

/** What is read of a body before its client gets the head, bytes. */
const AT_ONCE = 64 * 1024

/**
 * The body of a handler's response. It is read once: the recording gets a copy, as long as it wants one, and
 * the client the rest of it, however slow that is. A client that has left holds nothing back.
 */
export class HandlerBody {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  readonly #recording: Recording
  readonly #onLeave: () => void
  /** What was read before the client got its response. */
  readonly #collected: Uint8Array[] = []
  /** The read that is under way. */
  #reading: Promise<Uint8Array | undefined> | undefined
  #isRecorded = false
  #ended: boolean
  #client: ReadableStreamDefaultController<Uint8Array> | undefined
  #clientLeft = false
  #onPull: (() => void) | undefined

  constructor(body: ReadableStream<Uint8Array> | null, recording: Recording, onLeave: () => void) {
    this.#onLeave = onLeave
    this.#reader = body?.getReader()
    this.#recording = recording
    this.#ended = body === null
  }

  /** The whole body; undefined while it is not read to its end. */
  get whole(): Uint8Array | undefined {
    return this.#ended ? Buffer.concat(this.#collected) : undefined
  }

  /**
   * Reads what is there: the whole of a text or of bytes, and the beginning of a stream. Rejects if the
   * handler's stream fails.
   */
  async begin(): Promise<void> {
    for (let size = 0; !this.#ended && size < AT_ONCE;) {
      this.#reading ??= this.#read()
      const turn = new Promise<'waits'>((resolve) => setImmediate(resolve, 'waits'))
      if ((await Promise.race([this.#reading, turn])) === 'waits') return
      for (const chunk of await this.#next()) {
        this.#collected.push(chunk)
        size += chunk.length
      }
    }
  }

  /** The recording has the head: it gets what was read before. */
  record(): void {
    this.#isRecorded = true
    for (const chunk of this.#collected) this.#recording.chunk(chunk)
    if (this.#ended) this.#recording.end()
  }

  /** Reads to the end, or until the recording wants no more. Rejects if the handler's stream fails. */
  async collect(): Promise<void> {
    if (this.#ended) return
    while (!this.#ended && this.#recording.copying) this.#collected.push(...(await this.#next()))
    if (this.#ended) this.#recording.end()
    else await this.#reader?.cancel()
  }

  /** The body for the client. Goes on reading for the recording where the client is slow or has left. */
  stream(): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#client = controller
        for (const chunk of this.#collected.splice(0)) controller.enqueue(chunk)
        if (this.#ended) controller.close()
        else void this.#pump(controller)
      },
      pull: () => this.#onPull?.(),
      cancel: () => this.#onLeave(),
    })
  }

  /** The client has left. */
  leave(): void {
    this.#clientLeft = true
    this.#onPull?.()
  }

  /** The load has ended: nobody else wants the body. */
  abandon(): void {
    if (this.#clientLeft) void this.#reader?.cancel().catch(() => undefined)
  }

  /** The response will not be completed. */
  destroy(reason: unknown): void {
    if (!this.#clientLeft && !this.#ended) this.#client?.error(reason)
    this.leave()
    this.abandon()
  }

  async #pump(client: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    try {
      while (!this.#ended) {
        if (!this.#recording.copying) {
          if (this.#clientLeft) return await this.#reader?.cancel()
          if ((client.desiredSize ?? 0) <= 0) await this.#pulled()
        }
        for (const chunk of await this.#next()) if (!this.#clientLeft) client.enqueue(chunk)
      }
      this.#recording.end()
      if (!this.#clientLeft) client.close()
    } catch (error) {
      this.#recording.abort('failure')
      if (!this.#clientLeft) client.error(error)
    }
  }

  #pulled(): Promise<void> {
    return new Promise((resolve) => {
      this.#onPull = () => {
        this.#onPull = undefined
        resolve()
      }
    })
  }

  /** The chunk that is read next: one, or none at the end. */
  async #next(): Promise<readonly Uint8Array[]> {
    const chunk = await (this.#reading ??= this.#read())
    this.#reading = undefined
    if (chunk !== undefined && this.#isRecorded) this.#recording.chunk(chunk)
    return chunk === undefined ? [] : [chunk]
  }

  async #read(): Promise<Uint8Array | undefined> {
    const { done = true, value } = (await this.#reader?.read()) ?? {}
    if (done) this.#ended = true
    // Hosts send strings too, as UTF-8.
    return typeof value === 'string' ? Buffer.from(value) : value
  }
}
