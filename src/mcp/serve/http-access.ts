import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

export interface HttpAccess {
  /** Undefined where the request may pass, else why not. */
  refusal(request: IncomingMessage): { readonly status: number; readonly text: string } | undefined
}

/**
 * Who may ask. Every page in a browser can reach loopback: so the name under which the server is asked has to be its own,
 * and a page that asks has to come from it. Where a token is set, it has to be right, too.
 */
export function httpAccess(names: readonly string[], port: number, token: string | undefined): HttpAccess {
  const hosts = new Set(names.flatMap((name) => [`${name}:${port}`, ...(port === 80 ? [name] : [])]))
  const origins = new Set([...hosts].map((host) => `http://${host}`))
  return {
    refusal({ headers, url }) {
      if (!hosts.has(headers.host?.toLowerCase() ?? ''))
        return { status: 421, text: 'This is not the name of this server.' }
      if (headers.origin !== undefined && !origins.has(headers.origin.toLowerCase())) {
        return { status: 403, text: 'Pages from elsewhere may not ask.' }
      }
      if (token !== undefined && !isSame(headers.authorization?.replace(/^Bearer /i, ''), token)) {
        return { status: 401, text: 'The token is missing.' }
      }
      if (url?.split('?', 1)[0] !== '/mcp') return { status: 404, text: 'There is nothing here but /mcp.' }
      return undefined
    },
  }
}

const isSame = (given: string | undefined, token: string): boolean =>
  given !== undefined && timingSafeEqual(hashOf(given), hashOf(token))

const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest()
