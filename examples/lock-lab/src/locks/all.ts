import type { Lock } from '../lock.ts'
import { cattlegrid } from './cattlegrid.ts'
import { getCompareDel } from './get-compare-del.ts'
import { getThenSet } from './get-then-set.ts'
import { luaSetnxExpire } from './lua-setnx-expire.ts'
import { processIdToken } from './process-id-token.ts'
import { setNxDel } from './set-nx-del.ts'
import { setnxDel } from './setnx-del.ts'
import { setnxExpire } from './setnx-expire.ts'
import { timestampDel } from './timestamp-del.ts'
import { timestampGetset } from './timestamp-getset.ts'
import { tokenCompareAndDelete } from './token-compare-and-delete.ts'

export const locks: readonly Lock[] = [
  setnxDel,
  setnxExpire,
  setNxDel,
  getCompareDel,
  timestampGetset,
  timestampDel,
  getThenSet,
  luaSetnxExpire,
  tokenCompareAndDelete,
  processIdToken,
  cattlegrid,
]
