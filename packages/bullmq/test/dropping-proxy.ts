import { connect, createServer, type Server, type Socket } from 'node:net'

/** A TCP proxy in front of a server: it can lose a reply, or pass nothing on while the connections stay open. */
export class DroppingProxy {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #target: URL
  #wanted: string | undefined
  #isCut = false
  dropped = 0

  private constructor(target: string) {
    this.#target = new URL(target)
    this.#server = createServer((socket) => this.#join(socket))
  }

  static async to(target: string): Promise<DroppingProxy> {
    const proxy = new DroppingProxy(target)
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve))
    return proxy
  }

  get url(): string {
    const address = this.#server.address()
    return `redis://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
  }

  /** The next command with this text reaches the server, and its connection breaks before the reply. */
  dropReplyOf(text: string): void {
    this.#wanted = text
  }

  /** Packets vanish in both directions; nobody is told. */
  cut(): void {
    this.#isCut = true
  }

  /** Packets pass again, on new connections: what vanished stays lost. */
  heal(): void {
    this.#isCut = false
    for (const socket of this.#sockets) socket.destroy()
  }

  /** Connections break; new ones lead to another server. */
  leadTo(target: string): void {
    this.#target = new URL(target)
    for (const socket of this.#sockets) socket.destroy()
  }

  async end(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #join(near: Socket): void {
    const far = connect(Number(this.#target.port), this.#target.hostname)
    let isLost = false
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        this.#sockets.delete(socket)
        other.destroy()
      })
      socket.on('data', (data) => {
        if (this.#isCut) return
        if (socket === near && this.#wanted !== undefined && data.includes(this.#wanted)) {
          this.#wanted = undefined
          isLost = true
        }
        if (socket === near || !isLost) return void other.write(data)
        // the server has answered, so the command took effect
        this.dropped++
        near.destroy()
      })
    }
  }
}
