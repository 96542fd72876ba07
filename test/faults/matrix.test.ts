import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { playCell, SMALL } from '../matrix/cell.ts'
import { FAULTS, VIAS } from '../matrix/faults.ts'
import { broken } from '../matrix/verdict.ts'

const member = join(__dirname, '../matrix/member.ts')

describe.each(FAULTS)('processes at work when this happens: $title', (fault) => {
  test.each(VIAS)(
    'hang nobody, fail nobody whose loader works, load once each, pretend no write, and get back by themselves (%s)',
    async (via) => {
      expect(broken(await playCell(fault, via, SMALL, member))).toEqual([])
    },
  )
})
