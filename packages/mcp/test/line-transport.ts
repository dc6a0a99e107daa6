import type { Readable, Writable } from 'node:stream'
import { ReadBuffer, serializeMessage, type Transport } from '@modelcontextprotocol/client'

/** The client's end of a pipe, for servers in the same process. */
export function lineTransport(input: Readable, output: Writable): Transport {
  const buffer = new ReadBuffer()
  const transport: Transport & { stderr: null; pid: null } = {
    stderr: null,
    pid: null,
    async start() {
      input.on('data', (bytes: Buffer) => {
        buffer.append(bytes)
        for (let message = buffer.readMessage(); message !== null; message = buffer.readMessage()) {
          transport.onmessage?.(message)
        }
      })
    },
    send: async (message) => void output.write(serializeMessage(message)),
    async close() {
      output.end()
      transport.onclose?.()
    },
  }
  return transport
}
