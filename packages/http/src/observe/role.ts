import type { ReadResult } from '@cattlegrid/core'
import type { RequestDirectives } from '../request/request-directives.ts'
import { satisfiesMaxAge } from '../response/age.ts'
import { isVaryRecord, type Stored } from '../response/recorded-response.ts'
import type { RequestContext } from '../road/admission.ts'
import type { Observation } from '../road/observation.ts'
import type { ObservedRun } from '../route/http-cache.ts'
import type { Judgement } from '../response/storable.ts'

/** How the cache would have treated an observed request; `unknown` until the store was read. */
export type Role = 'unknown' | 'hit' | 'stale' | 'unshareable' | 'follower' | 'leader'

export function roleOf(
  found: ReadResult<Stored> | undefined,
  { directives, unshareable }: Pick<RequestContext, 'directives' | 'unshareable'>,
  running: ObservedRun | undefined,
): Role {
  if (found?.state === 'fresh' && satisfiesDirectives(found, directives)) return 'hit'
  if (found?.state === 'stale' && directives.maxAge === undefined) return 'stale'
  if (unshareable !== undefined) return 'unshareable'
  return running === undefined ? 'leader' : 'follower'
}

function satisfiesDirectives({ value, age }: ReadResult<Stored>, { maxAge }: RequestDirectives): boolean {
  return maxAge === undefined || isVaryRecord(value) || satisfiesMaxAge(value.initialAge, age, maxAge)
}

/** @param run the run that the request would have waited for, or its own. */
export function outcomeOf(
  role: Role,
  run: ObservedRun | undefined,
  judgement: Judgement | undefined,
  { unshareable }: Pick<RequestContext, 'unshareable'>,
): Pick<Observation, 'would' | 'why'> {
  switch (role) {
    case 'hit':
    case 'stale':
      return { would: role, why: undefined }
    case 'follower':
      return run?.refused === undefined ? { would: 'collapse', why: undefined } : { would: 'run', why: run.refused }
    case 'unshareable':
      return { would: 'run', why: unshareable }
    case 'leader':
    case 'unknown':
      if (judgement?.kind === 'store') return { would: 'store', why: undefined }
      return { would: 'run', why: judgement === undefined || judgement.kind === 'fail' ? 'status' : judgement.why }
  }
}
