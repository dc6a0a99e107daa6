import type { Command, Frame } from '../../../src/inspect/index.ts'
import type { Feed } from './feed.ts'
import { type Reachable, reachServer } from './reach-server.ts'

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
}

type ServerMessage =
  | ({ type: 'hello' } & Hello)
  | { type: 'frames'; batch: number; frames: readonly Frame[] }
  | { type: 'reply'; id: number; problem: string | null }

const [minDelayMs, maxDelayMs] = [250, 5_000]

/**
 * Follows a live server. Each batch is acknowledged after it is processed, so that a slow page is not flooded. A lost
 * connection is opened again and continues after the last frame that was received.
 */
export function openLiveFeed(origin: string, token: string, { onFrames, onHello, onLost }: FeedEvents): Feed {
  const replies = new Map<number, (problem: string | undefined) => void>()
  const closing = new AbortController()
  let commands = 0
  let stream: string | undefined
  let last = -1
  let delay = minDelayMs
  let timer: ReturnType<typeof setTimeout> | undefined
  let socket = open()

  function open(): WebSocket {
    const address = new URL(origin.replace(/^http/, 'ws'))
    if (stream !== undefined) address.search = new URLSearchParams({ stream, after: String(last) }).toString()
    const opened = new WebSocket(address, ['signalbox.inspect.v1', `token.${token}`])
    opened.addEventListener('message', ({ data }) => hear(JSON.parse(String(data)) as ServerMessage))
    opened.addEventListener('close', () => {
      for (const reply of replies.values()) reply('The connection is lost.')
      if (closing.signal.aborted) return
      // the page is no longer live, whatever the server says
      onLost('yes')
      void openAgain()
    })
    return opened
  }

  function hear(message: ServerMessage): void {
    if (message.type === 'hello') {
      const isNew = stream !== undefined && !message.isResumed
      if (isNew) last = -1
      stream = message.stream
      delay = minDelayMs
      onHello(message, isNew)
    } else if (message.type === 'frames') {
      last = message.frames.at(-1)?.seq ?? last
      onFrames(message.frames)
      socket.send(JSON.stringify({ type: 'ack', batch: message.batch }))
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
        if (socket.readyState !== WebSocket.OPEN) return resolve('The connection is lost.')
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
      socket.close()
    },
  }
}
