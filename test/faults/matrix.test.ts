import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { playCell, SMALL } from '../matrix/cell.ts'
import { FAULTS, VIAS } from '../matrix/faults.ts'
import { broken } from '../matrix/verdict.ts'

const member = join(__dirname, '../matrix/member.ts')

const [url, ...clients] = VIAS
/** By the store's own client and, in turn, by one of the application's; `npm run matrix` plays them all. */
const plays = FAULTS.map((fault, place) => ({
  fault,
  title: fault.title,
  vias: [url, clients[place % clients.length] ?? url],
}))

describe.each(plays)('processes at work when this happens: $title', ({ fault, vias }) => {
  test.each(vias)(
    'hang nobody, fail nobody whose loader works, load once each, pretend no write, and get back by themselves (%s)',
    async (via) => {
      expect(broken(await playCell(fault, via, SMALL, member))).toEqual([])
    },
  )
})
