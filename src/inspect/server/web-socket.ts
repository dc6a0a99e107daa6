import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type Incoming, MessageReader } from './message-reader.ts'

const protocolKey = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

export interface WebSocketEvents {
  onMessage(text: string): void
  /** @param isClean the other side said goodbye */
  onClose(isClean: boolean): void
  /** All sent bytes are flushed. */
  onDrain?(): void
}

/** The server side of one WebSocket: text only, no extensions, incoming messages up to a maximum length. */
export class WebSocket {
  readonly #socket: Duplex
  #isOpen = true
  #isClean = false

  constructor(socket: Duplex, head: Buffer, maxMessageBytes: number, { onMessage, onClose, onDrain }: WebSocketEvents) {
    this.#socket = socket
    const reader = new MessageReader(maxMessageBytes)
    const take = (chunk: Buffer): void => {
      for (const incoming of reader.read(chunk)) if (this.#isOpen) this.#answer(incoming, onMessage)
    }
    socket.on('data', take)
    socket.on('drain', () => this.#isOpen && onDrain?.())
    socket.on('error', () => socket.destroy())
    socket.once('end', () => this.close(1000))
    socket.once('close', () => {
      this.#isOpen = false
      onClose(this.#isClean)
    })
    if (head.length > 0) take(head)
  }

  /** Bytes that are not sent yet. */
  get bufferedAmount(): number {
    return this.#socket.writableLength
  }

  /** Whether `onDrain` will be called. */
  get isDraining(): boolean {
    return this.#socket.writableNeedDrain
  }

  send(text: string): void {
    if (this.#isOpen) this.#write(0x1, Buffer.from(text))
  }

  close(code: number): void {
    if (!this.#isOpen) return
    const payload = Buffer.alloc(2)
    payload.writeUInt16BE(code)
    this.#write(0x8, payload)
    this.#isOpen = false
    this.#socket.end()
  }

  /** Closes without a handshake, for a client that does not read. */
  drop(): void {
    this.#isOpen = false
    this.#socket.destroy()
  }

  #answer(incoming: Incoming, onMessage: (text: string) => void): void {
    if (incoming.kind === 'text') onMessage(incoming.text)
    else if (incoming.kind === 'ping') this.#write(0xa, incoming.payload)
    else if (incoming.kind === 'close') {
      this.#isClean = true
      this.close(1000)
    } else this.close(incoming.code)
  }

  #write(opcode: number, payload: Buffer): void {
    this.#socket.write(Buffer.concat([headerOf(opcode, payload.length), payload]))
  }
}

function headerOf(opcode: number, length: number): Buffer {
  const first = 0x80 | opcode
  if (length < 126) return Buffer.from([first, length])
  if (length < 65_536) {
    const header = Buffer.from([first, 126, 0, 0])
    header.writeUInt16BE(length, 2)
    return header
  }
  const header = Buffer.alloc(10)
  header[0] = first
  header[1] = 127
  header.writeBigUInt64BE(BigInt(length), 2)
  return header
}

/** The handshake's key, or undefined if the request is not a valid handshake. */
export function handshakeKey({ headers, method }: IncomingMessage): string | undefined {
  const key = headers['sec-websocket-key']
  const isProper =
    method === 'GET' &&
    headers.upgrade?.toLowerCase() === 'websocket' &&
    headers['sec-websocket-version'] === '13' &&
    key !== undefined &&
    /^[+/0-9A-Za-z]{22}==$/.test(key)
  return isProper ? key : undefined
}

export function acceptHandshake(socket: Duplex, key: string, protocol?: string): void {
  const accept = createHash('sha1').update(`${key}${protocolKey}`).digest('base64')
  socket.write(
    [
      'HTTP/1.1 101 Switching Protocols',
      'Upgrade: websocket',
      'Connection: Upgrade',
      `Sec-WebSocket-Accept: ${accept}`,
      ...(protocol === undefined ? [] : [`Sec-WebSocket-Protocol: ${protocol}`]),
      '\r\n',
    ].join('\r\n'),
  )
}
