import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

export const protocolName = 'signalbox.inspect.v1'
const tokenPrefix = 'token.'

/**
 * Access control. The server listens on loopback only, but any page in the browser can reach it. So the Host header, the
 * page's origin and the secret in the printed address are all checked.
 */
export class Access {
  readonly token: string
  readonly #hosts: ReadonlySet<string>
  readonly #origins: ReadonlySet<string>

  constructor(
    port: number,
    moreOrigins: readonly string[] = [],
    token: string = randomBytes(32).toString('base64url'),
  ) {
    this.token = token
    const hosts = [`127.0.0.1:${port}`, `localhost:${port}`]
    this.#hosts = new Set(hosts)
    this.#origins = new Set([...hosts.map((host) => `http://${host}`), ...moreOrigins])
  }

  /** Against DNS rebinding: another site's name that resolves to this machine. */
  isHost({ headers }: IncomingMessage): boolean {
    return headers.host !== undefined && this.#hosts.has(headers.host.toLowerCase())
  }

  /** Rejects requests without an Origin header. */
  isOrigin({ headers }: IncomingMessage): boolean {
    return headers.origin !== undefined && this.#origins.has(headers.origin)
  }

  /** The token is sent as a subprotocol: the only header that a page can set on a WebSocket. */
  hasToken({ headers }: IncomingMessage): boolean {
    const protocols = (headers['sec-websocket-protocol'] ?? '').split(',').map((each) => each.trim())
    const given = protocols.find((each) => each.startsWith(tokenPrefix))?.slice(tokenPrefix.length)
    return protocols.includes(protocolName) && this.#isToken(given)
  }

  hasBearer({ headers }: IncomingMessage): boolean {
    return this.#isToken(headers.authorization?.replace(/^Bearer /, ''))
  }

  /** For clients that accept only an address. */
  hasPath({ url }: IncomingMessage): boolean {
    return this.#isToken(url?.split('?', 1)[0]?.slice(1))
  }

  #isToken(given: string | undefined): boolean {
    return given !== undefined && timingSafeEqual(hashOf(given), hashOf(this.token))
  }
}

/** A fixed length, as `timingSafeEqual` requires. */
const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest()
