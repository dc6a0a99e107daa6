import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/**
 * The open sockets of a server, at most so many. When there are more, the oldest one that asks for nothing is closed:
 * idle connections must not keep a browser out.
 */
export class ConnectionLimit {
  readonly #sockets = new Set<Socket>()
  /** Those without a request that is being answered. */
  readonly #idle = new Set<Socket>()

  constructor(server: Server, most: number) {
    server.on('connection', (socket) => {
      this.#sockets.add(socket)
      this.#idle.add(socket)
      socket.once('close', () => {
        this.#sockets.delete(socket)
        this.#idle.delete(socket)
      })
      if (this.#sockets.size > most) this.#makeRoom()
    })
    server.on('request', ({ socket }, response) => {
      this.#idle.delete(socket)
      response.once('close', () => this.#sockets.has(socket) && this.#idle.add(socket))
    })
    server.on('upgrade', ({ socket }) => this.#idle.delete(socket))
  }

  closeAll(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  #makeRoom(): void {
    // the newest socket is idle too, so there is always one
    const [oldest] = this.#idle
    oldest?.destroy()
  }
}
