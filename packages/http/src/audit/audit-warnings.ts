/** The warnings about one place that is audited, each of which is told once. */
export class AuditWarnings {
  #differentGiven = false
  #notRunGiven = false

  /** `where`: where the responses differ. `target`: the URL of the request. */
  giveDifferent(where: string, target: string, stops: boolean): void {
    if (this.#differentGiven) return
    this.#differentGiven = true
    const then = stops
      ? 'Its responses are not cached any more until the process starts again, and what is stored of it is purged.'
      : 'Its responses are cached nevertheless (onMismatch).'
    give(
      `An audit ran the handler of ${pathOf(target)} for its client, and once more for a request that has only what the key holds. The two responses differ in ` +
        `${where}: what one client gets would be wrong for another. ${then} Put what the response depends on into the key (key.cookies, key.headers, ` +
        'key.extra), or do not cache the route. A nonce, a time or a random id differs, too: a page that has one must not be cached.',
      'CATTLEGRID_AUDIT',
    )
  }

  giveNotRun(why: string, target: string): void {
    if (this.#notRunGiven) return
    this.#notRunGiven = true
    give(
      `The responses of ${pathOf(target)} cannot be audited: ${why}. Nothing shows whether they are the same for every client. audit: false says that no audit is wanted.`,
      'CATTLEGRID_AUDIT_NOT_RUN',
    )
  }
}

function pathOf(target: string): string {
  return target.split('?')[0] ?? target
}

function give(text: string, code: string): void {
  process.emitWarning(text, { type: 'CattlegridWarning', code })
}
