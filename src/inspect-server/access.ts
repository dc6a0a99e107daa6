import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

export const protocolName = 'signalbox.inspect.v1'
const tokenPrefix = 'token.'

/**
 * Who may look. The server listens on loopback only, but every page in the browser can reach that: so the name under
 * which it is asked, the page that asks, and a secret that only the printed address has, all have to be right.
 */
export class Access {
  readonly token = randomBytes(32).toString('base64url')
  readonly #hosts: ReadonlySet<string>
  readonly #origins: ReadonlySet<string>

  constructor(port: number, moreOrigins: readonly string[] = []) {
    const hosts = [`127.0.0.1:${port}`, `localhost:${port}`]
    this.#hosts = new Set(hosts)
    this.#origins = new Set([...hosts.map((host) => `http://${host}`), ...moreOrigins])
  }

  /** Against names that some other site made to point here. */
  isHost({ headers }: IncomingMessage): boolean {
    return headers.host !== undefined && this.#hosts.has(headers.host.toLowerCase())
  }

  /** A page that does not say where it is from is not ours either. */
  isOrigin({ headers }: IncomingMessage): boolean {
    return headers.origin !== undefined && this.#origins.has(headers.origin)
  }

  /** The token travels as a subprotocol: the one header that a page may set on a WebSocket. */
  hasToken({ headers }: IncomingMessage): boolean {
    const protocols = (headers['sec-websocket-protocol'] ?? '').split(',').map((each) => each.trim())
    const given = protocols.find((each) => each.startsWith(tokenPrefix))?.slice(tokenPrefix.length)
    return protocols.includes(protocolName) && this.#isToken(given)
  }

  hasBearer({ headers }: IncomingMessage): boolean {
    return this.#isToken(headers.authorization?.replace(/^Bearer /, ''))
  }

  /** For clients that can be given an address and nothing else. */
  hasPath({ url }: IncomingMessage): boolean {
    return this.#isToken(url?.split('?', 1)[0]?.slice(1))
  }

  #isToken(given: string | undefined): boolean {
    return given !== undefined && timingSafeEqual(hashOf(given), hashOf(this.token))
  }
}

/** Of equal length whatever came, as the comparison wants it. */
const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest()
