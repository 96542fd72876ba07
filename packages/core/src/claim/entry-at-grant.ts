import type { Entry } from '../entry.ts'
import type { EngineServices } from '../flight/engine-services.ts'
import type { Lease } from '../store/answers.ts'
import { judgeTags } from '../store/tag-expiry.ts'

/**
 * The entry as its tags leave it at the grant of the lease; undefined if one of them was invalidated since
 * the read, or the store does not answer. An invalidation of tags changes no version, so the acquire did not
 * see it.
 */
export async function entryAtGrant(
  entry: Entry,
  { tagSeq }: Lease,
  { store }: EngineServices,
  since: number | undefined,
): Promise<Entry | undefined> {
  // It has no tags, the store judges them itself, or no tag was invalidated since its load began.
  if (entry.tags.length === 0 || tagSeq === undefined || tagSeq === entry.tagSeq) return entry
  const answer = await store.tagNumbers(entry.tags, since)
  return answer.kind === 'away' ? undefined : judgeTags(entry, answer.numbers)
}
