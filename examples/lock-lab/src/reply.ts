/** A reply as it is shown: what Redis says stays as it is; of an answer of cattlegrid's store the word, and the value that it found. */
export function plainReply(reply: unknown): unknown {
  if (typeof reply !== 'object' || reply === null || !('kind' in reply)) return reply
  const entry = 'entry' in reply ? reply.entry : undefined
  const found = typeof entry === 'object' && entry !== null && 'value' in entry ? ` ${String(entry.value)}` : ''
  return `${String(reply.kind)}${found}`
}

/** The same as text. */
export function replyText(reply: unknown): string {
  const plain = plainReply(reply)
  if (plain === null) return 'nil'
  if (Array.isArray(plain)) return `[${plain.map(replyText).join(', ')}]`
  return typeof plain === 'string' ? plain : JSON.stringify(plain)
}
