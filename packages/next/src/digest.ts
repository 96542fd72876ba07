import { createHash } from 'node:crypto'

/** 43 characters that stand for a longer text. */
export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
