import type { Amounts } from '../../machines/index.ts'
import type { Message } from '../messages/message.ts'
import { dearest } from '../usage/limits.ts'
import { dearestInput, priceOf } from '../usage/usage-total.ts'
import type { QueryLoop } from './query-loop.ts'

/** The state `reserving`: the request waits until every limit has room for all that it may use. */
export function reserve(loop: QueryLoop): void {
  if (!loop.actor.getSnapshot().matches('reserving')) return
  loop.requestBytes = loop.account.needsInput ? bytesOf(loop) : 0
  loop.claim = loop.account.reserve(loop, wantedBy(loop), () => loop.tell({ type: 'reserve.granted' }))
}

/** The request is not made: whoever waits behind it goes on. */
export function leaveReserve({ claim, account }: QueryLoop): void {
  if (claim !== undefined && !claim.isGranted) account.release(claim)
}

function wantedBy({ account, choice, requestBytes, lastInput }: QueryLoop): Amounts {
  const { info } = choice.model
  const inputTokens = account.needsInput ? estimate(requestBytes, lastInput) : 0
  const outputTokens = info?.maxOutputTokens ?? 0
  const { prices, needsCost } = account
  const price = needsCost ? (priceOf(prices, info?.name ?? '', undefined) ?? dearest(prices)) : undefined
  const millionths = price === undefined ? 0 : inputTokens * dearestInput(price) + outputTokens * price.output
  return { turns: 1, inputTokens, outputTokens, costUsd: millionths / 1_000_000 }
}

/** The input of the last request and its size. */
export interface LastInput {
  readonly tokens: number
  readonly bytes: number
}

/** A token of a text is rarely shorter. */
const bytesPerToken = 3

/** For the part of the request that was sent before, the service's count; for the new part, an estimate from its text. */
function estimate(bytes: number, last: LastInput | undefined): number {
  if (last === undefined) return Math.ceil(bytes / bytesPerToken)
  return last.tokens + Math.ceil(Math.max(0, bytes - last.bytes) / bytesPerToken)
}

const sizes = new WeakMap<object, number>()

function bytesOf({ request, setup, options }: QueryLoop): number {
  const { system } = options
  let bytes = typeof system === 'string' ? textBytes(system) : sizeOf(system)
  for (const schema of setup.tools.schemas) bytes += sizeOf(schema)
  for (const message of request) bytes += messageBytes(message)
  return bytes
}

function messageBytes(message: Message): number {
  if (message.type === 'progress' || message.type === 'system') return 0
  return sizeOf(message.type === 'attachment' ? message.attachment : message.message)
}

/** Each value is measured once. */
function sizeOf(value: object | undefined): number {
  if (value === undefined) return 0
  const known = sizes.get(value)
  if (known !== undefined) return known
  const size = textBytes(JSON.stringify(value, withoutData) ?? '')
  sizes.set(value, size)
  return size
}

/** An image costs about as much as this many bytes of text, however large its data is. */
const imageText = 'x'.repeat(6_000)

const withoutData = (_key: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && (value as { type?: unknown }).type === 'base64' ? imageText : value

function textBytes(text: string): number {
  let bytes = text.length
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 127) bytes += 2
  return bytes
}
