import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'

/** A response of `node:http` or Express. Its own type would need `@types/node` in every project. */
export interface NodeResponse {
  writeHead(status: number, headers: Record<string, string>): unknown
  write(chunk: string): boolean
  end(): unknown
}

/**
 * Sends a web `Response`, such as that of `sessionResponse`, with a server of `node:http` or Express. Resolves when it is
 * sent, or when the browser has left: then the body is cancelled. Rejects if the body fails.
 *
 * @example
 * createServer((request, response) => sendResponse(sessionResponse(session, request), response))
 */
export async function sendResponse({ status, headers, body }: Response, to: NodeResponse): Promise<void> {
  to.writeHead(status, Object.fromEntries(headers))
  if (body === null) return void to.end()
  try {
    await pipeline(Readable.fromWeb(body as ReadableStream), to as ServerResponse)
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error
  }
}
