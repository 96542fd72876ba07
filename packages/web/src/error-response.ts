import type { PassedError } from '@cattlegrid/http'

/** The response to a request for which there is none: 503 or 504, with the reason as its text. */
export function answerOf({ statusCode, headers, message }: PassedError): Response {
  return new Response(`${message}\n`, {
    status: statusCode,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store', ...headers },
  })
}
