/** What a process puts on a board, where all processes of the store read it. Times in ms. */
export interface Post {
  readonly board: string
  /** Names the process: its next post replaces this one. */
  readonly process: string
  readonly text: string
  /** The time after which the post is taken down. */
  readonly keepFor: number
  /**
   * A text for all, which begins the next round. Ignored unless `round` is the board's: else another process
   * has begun the next one.
   */
  readonly heading?: { readonly round: number; readonly text: string } | undefined
}

/** A board, with the post that was just put there. */
export interface Board {
  readonly kind: 'board'
  /** The texts, by process. */
  readonly posts: ReadonlyMap<string, string>
  /** The number of headings so far. */
  readonly round: number
  /** Empty before the first. */
  readonly heading: string
  /** The moment by the store's own clock, for what processes do in turn. */
  readonly now: number
}

/** The boards of one process: those of a memory store, or of a process whose store is away. */
export class Boards {
  readonly #boards = new Map<string, { readonly posts: Map<string, Note>; round: number; heading: string }>()

  post({ board: name, process, text, keepFor, heading }: Post, now: number): Board {
    const board = this.#boards.get(name) ?? { posts: new Map<string, Note>(), round: 0, heading: '' }
    this.#boards.set(name, board)
    board.posts.set(process, { text, until: now + keepFor })
    for (const [other, { until }] of board.posts) if (until <= now) board.posts.delete(other)
    if (heading !== undefined && heading.round === board.round) {
      board.round += 1
      board.heading = heading.text
    }
    const posts = new Map([...board.posts].map(([other, note]) => [other, note.text]))
    return { kind: 'board', posts, round: board.round, heading: board.heading, now }
  }
}

interface Note {
  readonly text: string
  readonly until: number
}
