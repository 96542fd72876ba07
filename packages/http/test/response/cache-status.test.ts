import { describe, expect, test } from '@jest/globals'
import { appendMember, bypassVerdict, leaderVerdict, memberOf, servedVerdict } from '../../src/response/cache-status.ts'

const lookup = { status: 'fresh', role: 'none', freshFor: 42_900, waited: 0, outcome: undefined } as const

const MISS = { forwarded: 'uri-miss', collapseFailed: false } as const
const STALE = { forwarded: 'stale', collapseFailed: false } as const

describe('members of Cache-Status (RFC 9211)', () => {
  test('a hit has its remaining lifetime as ttl, rounded down; of a stale one it is negative', () => {
    expect(memberOf(servedVerdict(lookup, 'uri-miss', undefined))).toBe('hit; ttl=42')
    expect(memberOf(servedVerdict({ ...lookup, status: 'stale', freshFor: -1 }, 'uri-miss', undefined))).toBe(
      'hit; ttl=-1; detail=stale-while-revalidate',
    )
  })

  test('a stale response after a wait is stale-if-error', () => {
    const stale = { ...lookup, status: 'stale', freshFor: -20_000, waited: 5 } as const
    expect(memberOf(servedVerdict(stale, 'uri-miss', { status: 503 }))).toBe(
      'fwd=stale; fwd-status=503; ttl=-20; detail=stale-if-error',
    )
    expect(memberOf(servedVerdict(stale, 'uri-miss', undefined))).toBe('fwd=stale; ttl=-20; detail=stale-if-error')
  })

  test('a follower says that it was collapsed', () => {
    const follower = { ...lookup, status: 'loaded', role: 'follower', waited: 5 } as const
    expect(memberOf(servedVerdict({ ...follower, freshFor: 60_000 }, 'uri-miss', undefined))).toBe(
      'fwd=uri-miss; collapsed; ttl=60',
    )
    expect(memberOf(servedVerdict({ ...follower, freshFor: 0 }, 'vary-miss', undefined))).toBe(
      'fwd=vary-miss; collapsed',
    )
  })

  test('a leader whose entry a subrequest filled says "stored" if that was committed', () => {
    const leader = { ...lookup, status: 'loaded', role: 'leader', freshFor: 60_000 } as const
    const committed = { ...leader, outcome: { kind: 'committed' } } as const
    expect(memberOf(servedVerdict(committed, 'stale', undefined))).toBe('fwd=stale; stored; ttl=60')
    expect(memberOf(servedVerdict(leader, 'stale', undefined))).toBe('fwd=stale')
  })

  test('a leader has "stored" only when its whole body is known', () => {
    const lifetime = { ttl: 60_000, staleWhileRevalidate: 0, staleIfError: 0 }
    expect(memberOf(leaderVerdict({ kind: 'store', lifetime }, MISS, true))).toBe('fwd=uri-miss; stored; ttl=60')
    expect(memberOf(leaderVerdict({ kind: 'store', lifetime }, STALE, false))).toBe('fwd=stale')
  })

  test('a leader has the reason why its response is not stored', () => {
    expect(memberOf(leaderVerdict({ kind: 'unshareable', why: 'set-cookie' }, MISS, true))).toBe(
      'fwd=uri-miss; detail=set-cookie',
    )
    expect(memberOf(leaderVerdict({ kind: 'share', why: 'status' }, MISS, true))).toBe('fwd=uri-miss; detail=status')
    expect(memberOf(leaderVerdict({ kind: 'fail', share: true }, STALE, true))).toBe('fwd=stale; detail=status')
  })

  test('a request that waited in vain has collapsed=?0, and no reason', () => {
    const lifetime = { ttl: 60_000, staleWhileRevalidate: 0, staleIfError: 0 }
    const inVain = { ...MISS, collapseFailed: true }
    expect(memberOf(leaderVerdict({ kind: 'unshareable', why: 'set-cookie' }, inVain, true))).toBe(
      'fwd=uri-miss; collapsed=?0',
    )
    expect(memberOf(leaderVerdict({ kind: 'store', lifetime }, inVain, false))).toBe('fwd=uri-miss; collapsed=?0')
    expect(memberOf(leaderVerdict({ kind: 'store', lifetime }, inVain, true))).toBe(
      'fwd=uri-miss; collapsed=?0; stored; ttl=60',
    )
    expect(memberOf(bypassVerdict('collapsed', 'stale'))).toBe('fwd=stale; collapsed=?0')
  })

  test('a bypass has its reason as a detail, and a method is fwd=method', () => {
    expect(memberOf(bypassVerdict('authorization', 'uri-miss'))).toBe('fwd=bypass; detail=authorization')
    expect(memberOf(bypassVerdict('method', 'uri-miss'))).toBe('fwd=method')
  })

  test('the new member is appended: the first is nearest to the origin', () => {
    expect(appendMember(undefined, 'cattlegrid', { kind: 'hit' })).toBe('cattlegrid; hit')
    expect(appendMember([], 'cattlegrid', { kind: 'hit' })).toBe('cattlegrid; hit')
    expect(appendMember('origin; hit', 'edge', { kind: 'hit' })).toBe('origin; hit, edge; hit')
    expect(appendMember(['a; hit', 'b; hit'], 'c', { kind: 'hit' })).toBe('a; hit,b; hit, c; hit')
  })
})
