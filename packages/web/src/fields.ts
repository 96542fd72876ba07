import type { HeaderFields } from '@cattlegrid/http'

/** The fields of a response, by lower-case name. */
export function fieldsOf(headers: Headers): Record<string, string | string[]> {
  const fields: Record<string, string | string[]> = {}
  for (const [name, value] of headers) fields[name] = value
  const cookies = headers.getSetCookie()
  if (cookies.length > 0) fields['set-cookie'] = cookies
  return fields
}

export function headersFrom(fields: HeaderFields): Headers {
  const headers = new Headers()
  for (const [name, value] of Object.entries(fields))
    for (const line of typeof value === 'string' ? [value] : value) headers.append(name, line)
  return headers
}

/** A response with other fields: those of `fetch()` and `Response.redirect()` cannot be changed. */
export function withFields(response: Response, added: Readonly<Record<string, string>>): Response {
  // That of an upgrade cannot be made anew.
  if (Object.keys(added).length === 0 || response.status < 200) return response
  const changed = new Response(response.body, response)
  for (const [name, value] of Object.entries(added)) changed.headers.set(name, value)
  return changed
}

/**
 * The fields of a handler's response that are true of its body. One that `fetch()` returned was decoded on
 * the way: its coding and its length are those of other bytes.
 */
export function fieldsOfBody(response: Response): Record<string, string | string[]> {
  const fields = fieldsOf(response.headers)
  if (response.url === '' || fields['content-encoding'] === undefined) return fields
  const { 'content-encoding': _, 'content-length': __, ...others } = fields
  return others
}

/** Sets fields, or deletes them where the value is undefined. */
export function withReplaced(headers: Headers, replaced: ReadonlyMap<string, string | undefined>): Headers {
  for (const [name, value] of replaced) {
    if (value === undefined) headers.delete(name)
    else headers.set(name, value)
  }
  return headers
}
