import type { Command, Frame } from '../../../src/inspect/index.ts'
import type { Feed } from './feed.ts'

export interface FeedEvents {
  onFrames(frames: readonly Frame[]): void
  onHello(source: 'live' | 'recording', commands: readonly Command[], hasCoverage: boolean): void
  onLost(): void
}

type ServerMessage =
  | { type: 'hello'; source: 'live' | 'recording'; commands: readonly Command[]; hasCoverage?: boolean }
  | { type: 'frames'; batch: number; frames: readonly Frame[] }
  | { type: 'reply'; id: number; problem: string | null }

/** Follows a live server. Each batch is acknowledged after it is processed, so that a slow page is not flooded. */
export function openLiveFeed(address: string, token: string, { onFrames, onHello, onLost }: FeedEvents): Feed {
  const socket = new WebSocket(address, ['signalbox.inspect.v1', `token.${token}`])
  const replies = new Map<number, (problem: string | undefined) => void>()
  let commands = 0
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data)) as ServerMessage
    if (message.type === 'hello') onHello(message.source, message.commands, message.hasCoverage === true)
    else if (message.type === 'frames') {
      onFrames(message.frames)
      socket.send(JSON.stringify({ type: 'ack', batch: message.batch }))
    } else replies.get(message.id)?.(message.problem ?? undefined)
  })
  socket.addEventListener('close', () => {
    for (const reply of replies.values()) reply('The connection is lost.')
    onLost()
  })
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
    close: () => socket.close(),
  }
}
