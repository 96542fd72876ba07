// The process of a source: a line `load <id> <rank>` asks, `drop <id>` gives up, and `<id> <1: found, 0: absent>` answers.
import { createServer, type Server, type Socket } from 'node:net'
import { serveAsMember } from '../run/member.ts'
import { hearLines } from './lines.ts'
import { type Change, type Moment, Source, type SourceTraits } from './source.ts'

const EVERY = 100

interface Served {
  readonly source: Source
  readonly moments: Moment[]
  /** Answers what has ended, and waits for the next end. */
  readonly work: () => void
}

const sources: Served[] = []

function serve(traits: SourceTraits): Served {
  const source = new Source(traits)
  const moments: Moment[] = []
  let timer: NodeJS.Timeout | undefined
  const work = (): void => {
    clearTimeout(timer)
    source.advance(performance.now())
    if (source.nextEnd !== undefined) timer = setTimeout(work, Math.max(1, source.nextEnd - performance.now()))
  }
  let nextLook = performance.now() + EVERY
  setInterval(() => {
    // A late timer leaves no gap.
    for (; nextLook <= performance.now(); nextLook += EVERY) moments.push(source.look(nextLook))
  }, EVERY)
  return { source, moments, work }
}

function converse(socket: Socket, { source, work }: Served): void {
  const drops = new Map<string, () => void>()
  let answers = ''
  const answer = (id: string, found: boolean): void => {
    drops.delete(id)
    // What ends in the same turn is sent together.
    if (answers === '') setImmediate(send)
    answers += `${id} ${found ? 1 : 0}\n`
  }
  const send = (): void => {
    if (socket.writable) socket.write(answers)
    answers = ''
  }
  hearLines(socket, (line) => {
    const [verb, id = '', rank] = line.split(' ')
    if (verb === 'load') {
      drops.set(
        id,
        source.arrive(Number(rank), performance.now(), (found) => answer(id, found)),
      )
    } else {
      drops.get(id)?.()
      drops.delete(id)
    }
    work()
  })
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

serveAsMember({
  /** @returns the port of a new source. */
  async open(traits: SourceTraits) {
    const served = serve(traits)
    sources.push(served)
    return await listen(createServer((socket) => converse(socket, served)))
  },
  change(next: Change) {
    for (const { source, work } of sources) {
      source.change(next, performance.now())
      work()
    }
  },
  forget() {
    for (const { moments } of sources) moments.length = 0
  },
  /** What each source did since `forget`. */
  moments: () => sources.map(({ moments }) => moments),
})
