import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

export interface HttpAccess {
  /** Undefined if the request is accepted, else the reason why not. */
  refusal(request: IncomingMessage): { readonly status: number; readonly text: string } | undefined
}

/**
 * Access control. Every page in a browser can reach loopback: so the Host header must name this server, and the Origin
 * of a page must match it. If a token is set, it must match too.
 */
export function httpAccess(names: readonly string[], port: number, token: string | undefined): HttpAccess {
  const hosts = new Set(names.flatMap((name) => [`${name}:${port}`, ...(port === 80 ? [name] : [])]))
  const origins = new Set([...hosts].map((host) => `http://${host}`))
  return {
    refusal({ headers, url }) {
      if (!hosts.has(headers.host?.toLowerCase() ?? ''))
        return { status: 421, text: 'The Host header does not name this server.' }
      if (headers.origin !== undefined && !origins.has(headers.origin.toLowerCase())) {
        return { status: 403, text: 'Requests from other origins are not allowed.' }
      }
      if (token !== undefined && !isSame(headers.authorization?.replace(/^Bearer /i, ''), token)) {
        return { status: 401, text: 'Missing or wrong token. Send the header Authorization: Bearer <token>.' }
      }
      if (url?.split('?', 1)[0] !== '/mcp') return { status: 404, text: 'Not found. The only path is /mcp.' }
      return undefined
    },
  }
}

const isSame = (given: string | undefined, token: string): boolean =>
  given !== undefined && timingSafeEqual(hashOf(given), hashOf(token))

const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest()
