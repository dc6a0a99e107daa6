/** Starts a worker from gzipped base64, for pages that cannot load files. */
export async function startPackedWorker(packed: string): Promise<Worker> {
  const text = await new Response(inflate([packed])).blob()
  const url = URL.createObjectURL(new Blob([text], { type: 'text/javascript' }))
  const worker = new Worker(url)
  const forget = (): void => URL.revokeObjectURL(url)
  const terminate = worker.terminate.bind(worker)
  // revoke after its first message: some browsers load the URL late
  worker.addEventListener('message', forget, { once: true })
  return Object.assign(worker, {
    terminate() {
      forget()
      terminate()
    },
  })
}

/** Each part is base64 of one piece of a single gzip stream. */
export function inflate(parts: Iterable<string>): ReadableStream<Uint8Array<ArrayBuffer>> {
  const rest = parts[Symbol.iterator]()
  const bytes = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      const { done, value } = rest.next()
      if (done === true) return controller.close()
      controller.enqueue(Uint8Array.from(atob(value), (character) => character.charCodeAt(0)))
    },
  })
  return bytes.pipeThrough(new DecompressionStream('gzip'))
}
