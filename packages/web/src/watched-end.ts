/** The same response; calls `onEnd` once its body has ended, or its client has left. */
export function watchEnd(response: Response, onEnd: () => void): Response {
  if (response.body === null) {
    onEnd()
    return response
  }
  const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader()
  const watched = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read()
      if (!done) return controller.enqueue(value)
      controller.close()
      onEnd()
    },
    async cancel(reason) {
      onEnd()
      await reader.cancel(reason)
    },
  })
  return new Response(watched, response)
}
