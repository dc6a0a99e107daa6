import type { JSONRPCMessage, Transport, TransportSendOptions } from '@modelcontextprotocol/client'

type RequestId = string | number

/** What of a burst of notifications is forgiven each second. */
const forgiven = 0.2

/** What an answer that never came is told from others by. */
export const streamEnded = 'stream_ended'

export interface TransportGuard {
  /** Notifications come in bursts, but not for ever. */
  readonly maxNotifications: number
  now(): number
  onFlood(): void
}

/**
 * A transport that makes good what its server does wrong: a flood ends the connection, a stream that ends without the answer
 * becomes an answer, and what was cancelled holds no stream open.
 */
export function guardedTransport(inner: Transport, guard: TransportGuard): Transport {
  const { maxNotifications, now, onFlood } = guard
  const open = new Map<RequestId, AbortController>()
  let level = 0
  let since = now()

  const isFlood = (): boolean => {
    const at = now()
    level = Math.max(0, level - ((at - since) / 1_000) * forgiven * maxNotifications) + 1
    since = at
    return level > maxNotifications
  }

  const guarded: Transport = {
    // how the SDK tells stdio from HTTP
    ...('stderr' in inner && { stderr: null, pid: null }),
    ...(inner.hasPerRequestStream === true && { hasPerRequestStream: true }),
    start: () => inner.start(),
    close: () => inner.close(),
    get sessionId() {
      return inner.sessionId
    },
    setProtocolVersion: (version) => inner.setProtocolVersion?.(version),
    setSupportedProtocolVersions: (versions) => inner.setSupportedProtocolVersions?.(versions),
    send(message, options) {
      if ('method' in message && 'id' in message && message.id !== undefined) return ask(message, message.id, options)
      const sent = inner.send(message, options)
      const cancelled = cancelledBy(message)
      if (cancelled === undefined) return sent
      return sent.finally(() => settle(cancelled)?.abort())
    },
  }

  function ask(message: JSONRPCMessage, id: RequestId, options: TransportSendOptions = {}): Promise<void> {
    const controller = new AbortController()
    open.set(id, controller)
    const { requestSignal, onRequestStreamEnd } = options
    requestSignal?.addEventListener('abort', () => settle(id)?.abort(), { once: true })
    return inner.send(message, {
      ...options,
      requestSignal: controller.signal,
      onRequestStreamEnd() {
        onRequestStreamEnd?.()
        if (settle(id) === undefined) return
        const error = { code: -32_000, message: 'the stream ended before the answer', data: streamEnded }
        guarded.onmessage?.({ jsonrpc: '2.0', id, error })
      },
    })
  }

  function settle(id: RequestId): AbortController | undefined {
    const controller = open.get(id)
    open.delete(id)
    return controller
  }

  inner.onmessage = (message, extra) => {
    const isAnswer = !('method' in message) && message.id !== undefined && settle(message.id) !== undefined
    if (!isAnswer && isFlood()) return onFlood()
    if (isAnswer) {
      afterNotifications(() => guarded.onmessage?.(message, extra)).catch((error: Error) => guarded.onerror?.(error))
    } else guarded.onmessage?.(message, extra)
  }
  inner.onerror = (error) => {
    guarded.onerror?.(error)
    if (isFlood()) onFlood()
  }
  inner.onclose = () => {
    open.clear()
    guarded.onclose?.()
  }
  return guarded
}

/** The SDK hands notifications on a tick late: without this, the last progress of a call would come after its answer. */
async function afterNotifications(deliver: () => void): Promise<void> {
  for (let tick = 0; tick < 4; tick++) await undefined
  deliver()
}

function cancelledBy(message: JSONRPCMessage): RequestId | undefined {
  if (!('method' in message) || message.method !== 'notifications/cancelled') return undefined
  return message.params?.requestId as RequestId | undefined
}
