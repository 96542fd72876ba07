/** Why a connection or a command failed, in words. */
export function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return message === '' ? String(code) : message
}

const CURES: readonly (readonly [reason: RegExp, cure: string])[] = [
  [/WRONGPASS|NOAUTH|invalid username-password/, 'give it the user and the password that the server knows'],
  [
    /cluster support disabled/,
    'the server is no cluster, so give redisStore createClient() of redis, new Redis() of ioredis, or a url',
  ],
  [/isn't writeable|client is closed/i, 'the client was closed, so give redisStore one that is open'],
  [/certificate/i, 'make the authority of the certificate known: tls: { ca }, or NODE_EXTRA_CA_CERTS'],
  [
    /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH/,
    'check that a server listens at its host and port, and that these are meant',
  ],
  [
    /clos(?:es|ed)|ECONNRESET|EPIPE|RESP type|Protocol error/i,
    'if the server speaks TLS, write rediss: in place of redis:; it may also be no Redis',
  ],
  [
    /time(?:d )?-?out|SSL|TLS/i,
    'if the server speaks no TLS, write redis: in place of rediss:; else it may be behind a firewall',
  ],
]

/** What to do about a connection that cannot be made. */
export function cureOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException
  const reason = `${code ?? ''} ${reasonOf(error)}`
  return (
    CURES.find(([pattern]) => pattern.test(reason))?.[1] ?? 'check its address, its user and password, and the server'
  )
}

/**
 * True for an error that the server replied with: it begins with a code such as READONLY. The errors of a
 * client do not.
 */
export function isErrorReply(error: unknown): error is Error {
  return error instanceof Error && /^[A-Z]{2,} /.test(error.message)
}

/**
 * An error of a client as it may leave the store: without the arguments of the command that failed, which may
 * be a password or a cached value (ioredis attaches the command, and the server names the arguments of one
 * that it does not know), and with the server's code as its `code`, which logs show.
 */
export function toldError(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const message = error.message.replace(/,? with args beginning with: .*/s, '')
  const code = codeOf(error)
  if (message === error.message && !('command' in error) && !('args' in error) && code === givenCode(error))
    return error
  const { name, stack } = error
  const told = code === undefined ? new Error(message) : Object.assign(new Error(message), { code })
  return Object.defineProperties(told, {
    name: { value: name },
    stack: { value: stack?.replace(error.message, () => message) },
  })
}

/**
 * The `code` of an error; of one that the server replied with, the code in its message, such as WRONGPASS.
 */
export function codeOf(error: unknown): string | undefined {
  return givenCode(error) ?? (isErrorReply(error) ? error.message.split(' ', 1)[0] : undefined)
}

function givenCode(error: unknown): string | undefined {
  const code = (error as NodeJS.ErrnoException | undefined)?.code
  return typeof code === 'string' ? code : undefined
}
