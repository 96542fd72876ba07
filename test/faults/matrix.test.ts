import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { playCell, SMALL } from '../matrix/cell.ts'
import { FAULTS, VIAS } from '../matrix/faults.ts'
import { broken } from '../matrix/verdict.ts'

const member = join(__dirname, '../matrix/member.ts')
/** The longest time of a cell on a machine that is busy with others, ms. */
const A_CELL = 300_000

const [url, ...clients] = VIAS
/** By the store's own client and, in turn, by one of the application's; `npm test -- matrix` plays them all. */
const cells = FAULTS.flatMap((fault, place) =>
  [url, clients[place % clients.length] ?? url].map((via) => ({ fault, via, title: fault.title })),
)

describe('processes at work', () => {
  // They mostly wait: several at once.
  test.concurrent.each(cells)(
    'hang nobody, fail nobody whose loader works, load once each, pretend no write, and get back by themselves: $title ($via)',
    async ({ fault, via }) => {
      expect(broken(await playCell(fault, via, SMALL, member))).toEqual([])
    },
    A_CELL,
  )
})
