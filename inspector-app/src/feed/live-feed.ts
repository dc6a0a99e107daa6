import type { Command, Frame } from '../../../src/inspect/index.ts'
import type { Feed } from './feed.ts'
import { type Reachable, reachServer } from './reach-server.ts'
import { SilenceWatch } from './silence-watch.ts'

interface Hello {
  /** `none`: the server has only the page. */
  readonly source: 'live' | 'recording' | 'none'
  readonly commands: readonly Command[]
  readonly hasCoverage?: boolean
  readonly hasSessions?: boolean
  /** Names the recording that the frame numbers belong to. */
  readonly stream: string
  /** The next frames continue those that this page has. */
  readonly isResumed: boolean
}

export interface FeedEvents {
  onFrames(frames: readonly Frame[]): void
  /** @param isNew the frames so far belong to another recording */
  onHello(hello: Hello, isNew: boolean): void
  onLost(reachable: Reachable): void
  /** Nothing arrives on a connection that is open or being opened. Reported each second. */
  onSilent(seconds: number): void
  /** The silence is over. */
  onHeard(): void
}

type ServerMessage =
  | ({ type: 'hello' } & Hello)
  | { type: 'frames'; batch: number; frames: readonly Frame[] }
  | { type: 'reply'; id: number; problem: string | null }

const [minDelayMs, maxDelayMs] = [250, 5_000]

/**
 * Follows a live server. Each batch is acknowledged after it is processed, so that a slow page is not flooded; an empty one
 * only tells that the server is there. A lost connection is opened again and continues after the last frame that was received.
 */
export function openLiveFeed(origin: string, token: string, events: FeedEvents): Feed {
  const { onFrames, onHello, onLost } = events
  const replies = new Map<number, (problem: string | undefined) => void>()
  const closing = new AbortController()
  let commands = 0
  let stream: string | undefined
  let last = -1
  let delay = minDelayMs
  let timer: ReturnType<typeof setTimeout> | undefined
  let isSilent = false
  const silence = new SilenceWatch({
    onSilent(seconds) {
      isSilent = true
      events.onSilent(seconds)
    },
    onGivenUp: () => socket !== undefined && lose(socket),
  })
  let socket: WebSocket | undefined = open()

  function open(): WebSocket {
    const address = new URL(origin.replace(/^http/, 'ws'))
    if (stream !== undefined) address.search = new URLSearchParams({ stream, after: String(last) }).toString()
    const opened = new WebSocket(address, ['signalbox.inspect.v1', `token.${token}`])
    opened.addEventListener('message', ({ data }) => {
      if (opened === socket) hear(JSON.parse(String(data)) as ServerMessage)
    })
    opened.addEventListener('close', () => opened === socket && lose(opened))
    silence.heard()
    return opened
  }

  /** Opens another connection. Later events of the lost one are ignored, because closing a dead connection takes long. */
  function lose(lost: WebSocket): void {
    silence.stop()
    isSilent = false
    for (const reply of replies.values()) reply('The connection is lost.')
    if (closing.signal.aborted) return
    // the page is no longer live, whatever the server says
    onLost('yes')
    socket = undefined
    lost.close()
    void openAgain()
  }

  function hear(message: ServerMessage): void {
    silence.heard()
    if (isSilent) events.onHeard()
    isSilent = false
    if (message.type === 'hello') {
      const isNew = stream !== undefined && !message.isResumed
      if (isNew) last = -1
      stream = message.stream
      delay = minDelayMs
      onHello(message, isNew)
    } else if (message.type === 'frames') {
      last = message.frames.at(-1)?.seq ?? last
      if (message.frames.length > 0) onFrames(message.frames)
      socket?.send(JSON.stringify({ type: 'ack', batch: message.batch }))
    } else replies.get(message.id)?.(message.problem ?? undefined)
  }

  async function openAgain(): Promise<void> {
    const reachable = await reachServer(origin, token, closing.signal)
    if (closing.signal.aborted) return
    onLost(reachable)
    // another token needs another address
    if (reachable === 'refused') return
    const act = (): void => {
      if (reachable === 'yes') socket = open()
      else void openAgain()
    }
    timer = setTimeout(act, delay)
    delay = Math.min(maxDelayMs, delay * 2)
  }

  return {
    command: (run, command, details) =>
      new Promise((resolve) => {
        if (socket?.readyState !== WebSocket.OPEN) return resolve('The connection is lost.')
        const id = ++commands
        replies.set(id, (problem) => {
          replies.delete(id)
          resolve(problem)
        })
        socket.send(JSON.stringify({ type: 'command', id, run, command, ...details }))
      }),
    close() {
      closing.abort()
      clearTimeout(timer)
      silence.stop()
      socket?.close()
    },
  }
}
