const GRACE_MS = 5_000

/**
 * Runs `close` once, on SIGINT, on SIGTERM, or when the IPC channel to the parent process closes, then exits.
 * The channel closes too when the parent is killed, so no orphan is left.
 */
export function onShutdown(close: () => Promise<void>): void {
  let closing = false
  const shutDown = (): void => {
    if (closing) return
    closing = true
    setTimeout(() => process.exit(1), GRACE_MS).unref()
    close().then(
      () => process.exit(0),
      (error: unknown) => {
        console.error(error)
        process.exit(1)
      },
    )
  }
  process.on('SIGINT', shutDown)
  process.on('SIGTERM', shutDown)
  process.on('disconnect', shutDown)
  // The parent may have ended while this process was starting.
  if (process.send !== undefined && !process.connected) shutDown()
}
