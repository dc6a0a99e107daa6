import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
}

const below = '/some/where/'

/** Serves a folder below a path, like any web server. */
export async function staticFiles(
  folder: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ url: string; close(): void }> {
  const server = createServer(({ url = '' }, response) => {
    const path = url.split('?', 1)[0] as string
    const file = join(folder, path.endsWith('/') ? `${path.slice(below.length)}index.html` : path.slice(below.length))
    if (!path.startsWith(below) || !existsSync(file)) {
      response.writeHead(404).end()
      return
    }
    response.writeHead(200, { ...headers, 'Content-Type': types[extname(file)] ?? 'application/octet-stream' })
    response.end(readFileSync(file))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}${below}`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
