import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import os from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'

/** A Redis on a free port, with a folder of its own; it ends with this process. */
export async function startRedis(appendfsync) {
  const folder = mkdtempSync(join(os.tmpdir(), 'signalbox-bench-redis-'))
  const port = await new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port: free } = server.address()
      server.close(() => resolve(free))
    })
  })
  const settings = ['--bind', '127.0.0.1', '--port', String(port), '--dir', folder, '--save', '', '--appendonly', 'yes']
  const child = spawn('redis-server', [...settings, '--appendfsync', appendfsync], { stdio: 'ignore' })
  process.once('exit', () => child.kill('SIGKILL'))
  const redis = new Redis(port, '127.0.0.1', { maxRetriesPerRequest: null, retryStrategy: () => 50 })
  redis.on('error', () => undefined)
  await redis.ping()
  redis.disconnect()
  return {
    url: `redis://127.0.0.1:${port}`,
    async end() {
      const gone = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGKILL')
      await gone
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
