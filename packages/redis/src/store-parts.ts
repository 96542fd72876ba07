import type { Notice, Runtime, StoreNodes } from '@cattlegrid/core'
import { DeniedCommands } from './denied-commands.ts'
import { EntryWrites } from './entry-writes.ts'
import { FleetPause } from './fleet-pause.ts'
import { LeaseSteps } from './lease-steps.ts'
import type { Link } from './link/link.ts'
import { NoticeHub } from './notice-hub.ts'
import type { RedisStoreSetup } from './options.ts'
import { Renewals } from './renewals.ts'
import { PendingReleases } from './pending-releases.ts'
import { Questions } from './questions.ts'
import { EntryReader } from './read-entry.ts'
import { RedisKeys } from './redis-keys.ts'
import { Scripts } from './scripts.ts'
import { ServerClocks } from './server-clock.ts'
import { checkSetUp } from './set-up-check.ts'
import { ShardedNotices } from './sharded-notices.ts'
import { StepRunner } from './step-runner.ts'
import { storeNodes } from './store-nodes.ts'
import { TagSequence } from './tag-sequence.ts'

/** The parts that carry out the steps of a store on Redis. */
export interface StoreParts {
  readonly link: Link
  readonly runtime: Runtime
  readonly redisKeys: RedisKeys
  readonly clocks: ServerClocks
  readonly scripts: Scripts
  readonly steps: StepRunner
  readonly nodes: StoreNodes | undefined
  readonly reader: EntryReader
  readonly pending: PendingReleases
  readonly leases: LeaseSteps
  readonly writes: EntryWrites
  readonly questions: Questions
  readonly pause: FleetPause
  readonly notices: NoticeHub
  readonly sharded: ShardedNotices | undefined
}

/** Connects the parts of a store with each other: the one place that knows them all. */
export function storeParts(link: Link, setup: RedisStoreSetup): StoreParts {
  const { client, namespace, runtime, watchdog, shardedNotices } = setup
  const announce = (notice: Notice): void => notices.announce(notice)
  const warn = (message: string): void => announce({ kind: 'warning', message })
  const redisKeys = new RedisKeys(namespace)
  const denied = new DeniedCommands(warn, link.nodes === undefined, `~${namespace}:*`)
  const clocks = new ServerClocks(link, runtime)
  const scripts = new Scripts(link, redisKeys, denied, clocks, shardedNotices)
  const tags = new TagSequence(link, redisKeys, scripts, denied, runtime)
  const reader = new EntryReader(link, redisKeys, runtime, denied)
  const steps = new StepRunner(link, denied)
  const sent = { link, runtime, redisKeys, clocks, scripts, steps }
  const nodes = link.nodes && storeNodes(link.nodes, redisKeys, clocks, (step) => steps.run(step))
  // The flights of this process that wait for the lease acquire it again.
  const pending = new PendingReleases(steps, scripts, runtime, (key) => announce({ kind: 'released', key }))
  const renewals = new Renewals(scripts, runtime, link.nodes === undefined)
  const onCommit = (key: string): void => reader.forget(key)
  const leases = new LeaseSteps(
    steps,
    scripts,
    tags,
    runtime,
    pending,
    renewals,
    onCommit,
    foreignLeaseWarning(redisKeys, warn),
  )
  const writes = new EntryWrites(steps, scripts, tags, runtime, link.nodes !== undefined)
  const questions = new Questions(sent)
  const pause = new FleetPause({ ...sent, announce })
  const check = (): void => checkSetUp({ ...sent, client, namespace, warn })
  const onNotice = noticeListener(reader, pause, check)
  const onOther = (message: string): void => questions.receive(message)
  const notices = new NoticeHub(link, redisKeys.channel, runtime, watchdog, onNotice, onOther)
  const sharded =
    shardedNotices && link.nodes !== undefined
      ? new ShardedNotices({ link, nodes: link.nodes, redisKeys, runtime, maxSilence: watchdog, announce })
      : undefined
  return { ...sent, nodes, reader, pending, leases, writes, questions, pause, notices, sharded }
}

/** Learns from each notice before the caches do. `check` is called once, when the first connection for notices stands. */
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
