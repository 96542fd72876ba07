/** How long a master answers nothing before its replica takes its place, ms: it may only stall, as on a busy machine. */
export const BEFORE_A_KILL = 15_000
/** The same, once a test kills a master. */
export const AFTER_A_KILL = 1000
