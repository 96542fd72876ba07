import type { Lease, Refused, Version } from '@cattlegrid/core'
import type { Rejection } from './scripts.ts'

/** A lease as this store grants it. */
export interface GrantedLease extends Lease {
  /** What its commit writes. */
  readonly version: Version
  /** The tag sequence before the load began; 0 where nobody knows, so that no tag can be named. */
  readonly tagSeq: number
  /** When it ends unless renewed, on this process's clock: tells a lease that ran out from one that was voided. */
  endsAt: number
}

export function isGranted(lease: Lease): lease is GrantedLease {
  return 'tagSeq' in lease && 'endsAt' in lease
}

/** A lease ends at the store that granted it: to this one it is none. */
export const FOREIGN_LEASE: Refused = { kind: 'refused', why: 'expired' }

export function refusalOf(turned: Rejection, { endsAt }: GrantedLease, now: number): Refused {
  if (turned === 'taken') return { kind: 'refused', why: 'taken' }
  return { kind: 'refused', why: now < endsAt ? 'voided' : 'expired' }
}
