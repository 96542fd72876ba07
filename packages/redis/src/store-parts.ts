import type { Store } from '@cattlegrid/core'
import type { Notice, StorePart } from '@cattlegrid/core/extend'
import { EntryWrites } from './entries/entry-writes.ts'
import { EntryReader } from './entries/read-entry.ts'
import { LeaseSteps } from './leases/lease-steps.ts'
import { PendingReleases } from './leases/pending-releases.ts'
import { Renewals } from './leases/renewals.ts'
import { DeniedCommands } from './link/denied-commands.ts'
import type { Link, LinkNodes } from './link/link.ts'
import { StepRunner } from './link/step-runner.ts'
import { Scripts, type StepParts } from './lua/scripts.ts'
import { ServerClocks } from './lua/server-clock.ts'
import { FleetPause } from './notices/fleet-pause.ts'
import { channelsOfKeys, Notices } from './notices/notices.ts'
import type { RedisStoreSetup } from './options.ts'
import { Questions } from './questions.ts'
import { RedisKeys } from './redis-keys.ts'
import { checkSetUp } from './set-up-check.ts'
import { TagSequence } from './tags/tag-sequence.ts'

/** The parts that carry out the steps of a store on Redis. */
export interface StoreParts extends StepParts {
  readonly partOf: Store['partOf']
  readonly reader: EntryReader
  readonly pending: PendingReleases
  readonly leases: LeaseSteps
  readonly writes: EntryWrites
  readonly questions: Questions
  readonly pause: FleetPause
  readonly notices: Notices
}

/** Connects the parts of a store with each other: the one place that knows them all. */
export function storeParts(link: Link, setup: RedisStoreSetup): StoreParts {
  const { namespace, runtime, watchdog, shardedNotices } = setup
  const announce = (notice: Notice): void => notices.announce(notice)
  const warn = (message: string): void => announce({ kind: 'warning', message })
  const redisKeys = new RedisKeys(namespace)
  const denied = new DeniedCommands(warn, link.nodes === undefined, `~${namespace}:*`)
  const below = { link, runtime, redisKeys, denied, clocks: new ServerClocks(link, runtime) }
  const scripts = new Scripts(below, channelsOfKeys(redisKeys.channel, shardedNotices))
  const parts = { ...below, scripts, steps: new StepRunner(link, denied) }
  const tags = new TagSequence(parts)
  const reader = new EntryReader(parts)
  // The flights of this process that wait for the lease acquire it again.
  const pending = new PendingReleases(parts, (key) => announce({ kind: 'released', key }))
  const renewals = new Renewals(parts)
  const onCommit = (key: string): void => reader.forget(key)
  const onForeign = foreignLeaseWarning(redisKeys, warn)
  const leases = new LeaseSteps({ ...parts, tags, renewals, pending, onCommit, onForeign })
  const writes = new EntryWrites(parts, tags)
  const questions = new Questions(parts)
  const pause = new FleetPause({ ...parts, announce })
  const check = (): void => checkSetUp(parts, setup, warn)
  const onNotice = noticeListener(reader, pause, check)
  const notices = new Notices({
    link,
    channel: redisKeys.channel,
    runtime,
    maxSilence: watchdog,
    sharded: shardedNotices,
    onNotice,
    onOther: (message) => questions.receive(message),
  })
  const partOf = link.nodes && partsOf(link.nodes, parts, notices)
  return { ...parts, partOf, reader, pending, leases, writes, questions, pause, notices }
}

/**
 * The addresses of at most this many masters are known: more than a cluster has, with those that left
 * it lately.
 */
const MOST_MASTERS = 1000

/** The masters of a cluster as the parts of the store. */
function partsOf(
  nodes: LinkNodes,
  { redisKeys, clocks, steps }: StepParts,
  notices: Notices,
): NonNullable<Store['partOf']> {
  const parts = new Map<string, StorePart>()
  const makePart = (name: string): StorePart => ({
    name,
    receivesNotices: (key) => notices.arriveFor(key),
    ping: () => steps.done(() => clocks.pingNode(name)),
  })
  const names = { tags: redisKeys.tagSequence, refreshes: redisKeys.refreshRate }
  return (what, key = '') => {
    const address = nodes.addressOf(what === 'entry' ? redisKeys.entry(key) : names[what])
    const known = parts.get(address)
    if (known !== undefined) return known
    if (parts.size >= MOST_MASTERS) parts.clear()
    const part = makePart(address)
    parts.set(address, part)
    return part
  }
}

/**
 * Learns from each notice before the caches do. `check` is called once, when the first connection for
 * notices stands.
 */
function noticeListener(reader: EntryReader, pause: FleetPause, check: () => void): (notice: Notice) => void {
  let isChecked = false
  return (notice) => {
    if ('key' in notice) reader.forget(notice.key)
    else if (notice.kind === 'paused') pause.note(notice.remaining)
    else if (notice.kind === 'connected' && notice.part === undefined) {
      void pause.read()
      if (!isChecked) check()
      isChecked = true
    }
  }
}

/** Warns once of a program that writes to the names of leases. */
function foreignLeaseWarning(redisKeys: RedisKeys, warn: (message: string) => void): (key: string) => void {
  let isTold = false
  return (key) => {
    if (isTold) return
    isTold = true
    warn(
      `At ${redisKeys.lease(key)}, the name of a lease, stood a value that this library has not written, and the lease has replaced it. ` +
        'Give this store a namespace that no other program uses.',
    )
  }
}
