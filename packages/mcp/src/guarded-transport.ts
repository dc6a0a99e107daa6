import type { JSONRPCMessage, Transport, TransportSendOptions } from '@modelcontextprotocol/client'

type RequestId = string | number

/** The share of the notification budget that is restored each second. */
const forgiven = 0.2

/** Marks an error response that this transport made up. */
export const streamEnded = 'stream_ended'

export interface TransportGuard {
  /** Bursts of notifications are fine, a permanent flood is not. */
  readonly maxNotifications: number
  now(): number
  onFlood(): void
}

/**
 * A transport that corrects a server's protocol errors: a flood closes the connection, a stream that ends without a
 * response becomes an error response, and cancelled requests keep no stream open.
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
    // how the SDK distinguishes stdio from HTTP
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
        const error = { code: -32_000, message: 'the stream ended before the response', data: streamEnded }
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
    const isAnswer = !('method' in message) && message.id !== undefined
    const isAwaited = isAnswer && settle(message.id as RequestId) !== undefined
    if (!isAwaited && isFlood()) return onFlood()
    // the first response counts; the SDK would process a second one, which is not delayed, before it
    if (isAnswer && !isAwaited) return guarded.onerror?.(new Error(`the server answered request ${message.id} twice`))
    if (isAwaited) {
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

/** The SDK delivers notifications one tick late: without this, a call's last progress would follow its response. */
async function afterNotifications(deliver: () => void): Promise<void> {
  for (let tick = 0; tick < 4; tick++) await undefined
  deliver()
}

function cancelledBy(message: JSONRPCMessage): RequestId | undefined {
  if (!('method' in message) || message.method !== 'notifications/cancelled') return undefined
  return message.params?.requestId as RequestId | undefined
}
