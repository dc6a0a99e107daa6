import { lookup } from 'node:dns'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import type { Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { toolError } from 'signalbox'
import { isPrivateAddress } from './private-address.ts'

export interface PageLimits {
  readonly maxBytes: number
  readonly allowPrivate: (host: string) => boolean
  readonly signal: AbortSignal
}

export interface Page {
  readonly url: string
  readonly status: number
  readonly contentType: string
  readonly bytes: Buffer
  /** The rest was truncated. */
  readonly isCut: boolean
  /** The signal came before the end of the body; `bytes` are those that had arrived. */
  readonly isStopped?: boolean | undefined
  /** The target of a redirect to another host; a new call is needed, since that host may be denied. */
  readonly redirectsTo?: string | undefined
}

const maxRedirects = 5

/** Fetches a page. Follows redirects on the same host only; checks each address when connecting. */
export async function fetchPage(address: string, limits: PageLimits): Promise<Page> {
  let url = readUrl(address)
  for (let hop = 0; hop <= maxRedirects; hop++) {
    const response = await get(url, limits)
    const { statusCode: status = 0, headers } = response
    const location = status >= 300 && status < 400 && status !== 304 ? headers.location : undefined
    if (location === undefined) return readPage(url, response, limits)
    response.destroy()
    const next = readUrl(location, url)
    assertPublic(next, limits)
    if (next.host !== url.host || (url.protocol === 'https:' && next.protocol === 'http:')) {
      return { url: url.href, status, contentType: '', bytes: Buffer.alloc(0), isCut: false, redirectsTo: next.href }
    }
    url = next
  }
  throw toolError(`${address} redirects more than ${maxRedirects} times.`, 'TooManyRedirects')
}

export function readUrl(address: string, base?: URL): URL {
  let url: URL
  try {
    url = new URL(address, base)
  } catch {
    throw toolError(`${address.slice(0, 200)} is not a valid URL.`, 'InvalidUrl')
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw toolError(`Expected an http or https URL, received ${url.protocol}`, 'InvalidUrl')
  }
  if (url.username !== '' || url.password !== '')
    throw toolError('URLs with a user name or password are not allowed. Remove them from the URL.', 'InvalidUrl')
  return url
}

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '')

function assertPublic(url: URL, { allowPrivate }: PageLimits): void {
  const host = hostOf(url)
  const isPrivate = isIP(host) !== 0 ? isPrivateAddress(host) : /^(?:.*\.)?localhost\.?$/i.test(host)
  if (isPrivate && !allowPrivate(host)) throw privateError(host)
}

const privateError = (host: string): Error =>
  toolError(`${host} is a private address. Fetching private addresses is not allowed.`, 'PrivateAddress')

function get(url: URL, limits: PageLimits): Promise<IncomingMessage> {
  assertPublic(url, limits)
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      signal: limits.signal,
      lookup: publicLookup(limits),
      // one connection per request, so that none is reused for another host
      agent: false,
      headers: {
        accept: 'text/html,text/markdown,text/plain,application/json;q=0.9,*/*;q=0.5',
        'accept-encoding': 'gzip, br, deflate',
        'user-agent': 'signalbox',
      },
    })
    // later errors are also reported by the response, and only there
    sent.on('error', reject)
    sent.once('response', (response) => {
      response.on('error', () => undefined)
      resolve(response)
    })
    sent.end()
  })
}

/** Checks the addresses that are actually connected to: the next DNS lookup may return others. */
const publicLookup =
  ({ allowPrivate }: PageLimits): LookupFunction =>
  (host, options, done) =>
    lookup(host, { ...options, all: true }, (error, addresses) => {
      if (error) return done(error, [])
      const isRefused = addresses.some(({ address }) => isPrivateAddress(address)) && !allowPrivate(host)
      if (isRefused) return done(privateError(host), [])
      const [first] = addresses
      if (options.all === true || first === undefined) done(null, addresses)
      else done(null, first.address, first.family)
    })

const decoders = new Map<string, () => NodeJS.ReadWriteStream>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['br', createBrotliDecompress],
  ['deflate', createInflate],
])

async function readPage(url: URL, response: IncomingMessage, { maxBytes, signal }: PageLimits): Promise<Page> {
  const { headers, statusCode: status = 0 } = response
  const decoder = decoders.get(headers['content-encoding']?.toLowerCase() ?? '')?.()
  const body = (decoder === undefined ? response : response.pipe(decoder)) as Readable
  if (decoder !== undefined) response.once('error', (error) => body.destroy(error))
  const stop = (): void => void body.destroy(signal.reason)
  signal.addEventListener('abort', stop, { once: true })
  const chunks: Buffer[] = []
  let length = 0
  let isCut = false
  let isStopped = false
  try {
    // the limit counts decompressed bytes
    for await (const chunk of body) {
      const room = maxBytes - length
      isCut = chunk.length > room
      chunks.push(isCut ? chunk.subarray(0, room) : chunk)
      length += chunk.length
      if (isCut) break
    }
  } catch (error) {
    if (!signal.aborted) throw error
    isStopped = true
  } finally {
    signal.removeEventListener('abort', stop)
    body.destroy()
    response.destroy()
  }
  const contentType = headers['content-type'] ?? ''
  return { url: url.href, status, contentType, bytes: Buffer.concat(chunks), isCut, isStopped }
}
