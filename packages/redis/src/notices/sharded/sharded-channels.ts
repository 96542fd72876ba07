import { keySlot, SLOTS } from '../../link/key-slot.ts'
import { escapeKey } from '../../redis-keys.ts'

/**
 * The number of groups into which the slots of a cluster are divided. All processes must agree on it: a
 * channel stands for one group.
 */
const SLOT_GROUPS = 1024
const SLOTS_OF_GROUP = SLOTS / SLOT_GROUPS

/** The hash tag of each group's channel. Its slot is in the group. */
let tags: readonly string[] | undefined

/** The channels of groups of slots, in a namespace. */
export class ShardedChannels {
  readonly #channel: string
  readonly #ofGroups: string[] = []

  /** `channel`: that of the namespace. */
  constructor(channel: string) {
    this.#channel = channel
  }

  /** The group of a cache key. All its names in Redis have its slot. */
  groupOf(key: string): number {
    return groupOf(`{${escapeKey(key)}}`)
  }

  /** The channel of the notices about a key. */
  ofKey(key: string): string {
    return this.ofGroup(this.groupOf(key))
  }

  ofGroup(group: number): string {
    return (this.#ofGroups[group] ??= `${this.#channel}:{${tagOf(group)}}`)
  }
}

/** The group of a Redis key, by its slot. */
export function groupOf(name: string): number {
  return Math.floor(keySlot(name) / SLOTS_OF_GROUP)
}

/**
 * A short hash tag whose slot is in the group: so the master of the group's keys usually serves the group's
 * channel, too.
 */
function tagOf(group: number): string {
  tags ??= findTags()
  return tags[group] ?? ''
}

/**
 * Tries numbers: each group gets the first one whose slot it has. About 8,000 are enough for all groups, and
 * take a few milliseconds once.
 */
function findTags(): readonly string[] {
  const found: string[] = []
  for (let number = 0, missing = SLOT_GROUPS; missing > 0; number += 1) {
    const group = groupOf(`{${number}}`)
    if (found[group] !== undefined) continue
    found[group] = String(number)
    missing -= 1
  }
  return found
}
