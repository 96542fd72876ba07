import type { Lease, Refused, Version } from '@cattlegrid/core'
import type { Rejection } from './scripts.ts'

/** A lease with what this store needs to commit it. */
export interface GrantedLease extends Lease {
  /** The version that its commit writes. */
  readonly version: Version
  /** The tag sequence before the load began; 0 when it is unknown: then a load that names tags is refused. */
  readonly tagSeq: number
  /** When the lease ends unless it is renewed, on this process's clock: distinguishes an expired lease from a voided one. */
  endsAt: number
  /** The duration that was requested last, ms. */
  duration: number
}

export function isGranted(lease: Lease): lease is GrantedLease {
  return 'tagSeq' in lease && 'endsAt' in lease
}

/** The answer to a lease that another store granted: only that store can end it. */
export const FOREIGN_LEASE: Refused = { kind: 'refused', why: 'expired' }

export function refusalOf(rejection: Rejection, { endsAt }: GrantedLease, now: number): Refused {
  if (rejection === 'taken') return { kind: 'refused', why: 'taken' }
  return { kind: 'refused', why: now < endsAt ? 'voided' : 'expired' }
}
