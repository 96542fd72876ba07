import type { Lock } from '../lock.ts'
import { cattlegrid } from './cattlegrid.ts'
import { timestampDel, timestampGetset } from './timestamp.ts'
import { compareAndDelete, getCompareDel, processIdToken } from './token.ts'
import { getThenSet, luaSetnxExpire, setnxDel, setnxExpire, setNxPxDel } from './without-token.ts'

export const locks: readonly Lock[] = [
  setnxDel,
  setnxExpire,
  setNxPxDel,
  getCompareDel,
  timestampGetset,
  timestampDel,
  getThenSet,
  luaSetnxExpire,
  compareAndDelete,
  processIdToken,
  cattlegrid,
]
