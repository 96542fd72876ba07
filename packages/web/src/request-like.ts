/**
 * Makes a request of the class of another one, such as `NextRequest`. Servers such as srvx have classes that
 * cannot be made by a URL: there it is a plain `Request`.
 */
export function requestLike<Req extends Request>(one: Req, input: string | Request, init: RequestInit): Req {
  try {
    const Kind = one.constructor as new (input: string | Request, init: RequestInit) => Req
    const made = new Kind(input, init)
    // Some find out only here that they have no request.
    if (typeof made.url === 'string' && typeof made.method === 'string') return made
  } catch {
    // A class of another form.
  }
  if (typeof input === 'string') return new Request(input, init) as Req
  const { url, method, body, signal } = input
  return new Request(url, { method, body, signal, duplex: 'half', ...init }) as Req
}
