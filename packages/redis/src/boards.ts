import type { Board, Post } from '@cattlegrid/core/extend'
import type { DeniedCommands } from './link/denied-commands.ts'
import type { Link } from './link/link.ts'
import { runScript, script } from './lua/run-script.ts'
import { luaSources } from './lua/sources.generated.ts'
import type { RedisKeys } from './redis-keys.ts'

/**
 * The time to live of a board on which nothing is posted, ms. What was learned of a source is then out
 * of date.
 */
const BOARD_LIFE = '3600000'
const postScript = script(luaSources.post)

interface BoardParts {
  readonly link: Link
  readonly redisKeys: RedisKeys
  readonly denied: DeniedCommands
}

/** Puts a text on a board of the namespace, which is a hash, and reads it. */
export async function postOn({ link, redisKeys, denied }: BoardParts, post: Post): Promise<Board> {
  const { process, text, keepFor, heading } = post
  const life = String(Math.ceil(keepFor))
  const args = [process, text, life, String(heading?.round ?? ''), heading?.text ?? '', BOARD_LIFE]
  const keys = [redisKeys.board(post.board)] as const
  const reply = await runScript(link, postScript, keys, args, (error) => denied.note(error))
  const [now, round, top = '', ...notes] = reply as readonly string[]
  const posts = new Map<string, string>()
  for (let place = 0; place < notes.length; place += 2) posts.set(notes[place] ?? '', notes[place + 1] ?? '')
  return { kind: 'board', posts, round: Number(round), heading: top, now: Number(now) / 1000 }
}
