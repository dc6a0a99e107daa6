import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'

const debian = '/usr/lib/postgresql'

/** The folder with the programs of PostgreSQL; undefined if it is not installed. */
export function findPostgres(): string | undefined {
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : []
  const folders = [...versions.map((version) => join(debian, version, 'bin')), ...(process.env.PATH ?? '').split(':')]
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')))
}

/** The server refuses to run as root. */
const asUser = (program: string, args: string[]): [string, string[]] =>
  process.getuid?.() === 0 ? ['runuser', ['-u', 'postgres', '--', program, ...args]] : [program, args]

/** A server of this test: on loopback, on a free port, in a temporary folder. */
export class PostgresServer {
  readonly #bin: string
  readonly #folder: string
  readonly #port: number
  #process: ChildProcess | undefined

  private constructor(bin: string, folder: string, port: number) {
    this.#bin = bin
    this.#folder = folder
    this.#port = port
  }

  static async start(): Promise<PostgresServer> {
    const bin = findPostgres()
    if (bin === undefined) throw new Error('PostgreSQL was not found. On Debian: apt-get install postgresql')
    const folder = mkdtempSync(join(tmpdir(), 'signalbox-postgres-'))
    chmodSync(folder, 0o777)
    const [initdb, args] = asUser(join(bin, 'initdb'), [
      '-D',
      join(folder, 'data'),
      '-A',
      'trust',
      '-U',
      'tester',
      '-E',
      'UTF8',
    ])
    execFileSync(initdb, args, { stdio: 'ignore', cwd: folder })
    const server = new PostgresServer(bin, folder, await freePort())
    await server.run()
    return server
  }

  get url(): string {
    return `postgres://tester@127.0.0.1:${this.#port}/postgres`
  }

  /** Starts the program and waits until it answers. */
  async run(): Promise<void> {
    for (;;) {
      this.#start()
      if (await this.#answers()) return
    }
  }

  /** Ends it as a crash would: nothing is flushed, connections break. */
  async crash(): Promise<void> {
    await this.#stop('SIGQUIT')
  }

  async end(): Promise<void> {
    await this.#stop('SIGINT')
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #start(): void {
    const data = join(this.#folder, 'data')
    const settings = ['listen_addresses=127.0.0.1', `unix_socket_directories=${this.#folder}`, 'max_connections=50']
    // not through runuser: signals must reach the server itself
    const ids = process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : {}
    const args = ['-D', data, '-p', String(this.#port), ...settings.flatMap((setting) => ['-c', setting])]
    this.#process = spawn(join(this.#bin, 'postgres'), args, { stdio: 'ignore', cwd: this.#folder, ...ids })
  }

  /** False if the program ended, for example because an earlier one is not quite gone. */
  async #answers(): Promise<boolean> {
    while (this.#process?.exitCode === null) {
      const client = new pg.Client({ connectionString: this.url })
      try {
        await client.connect()
        await client.query('select 1')
        return true
      } catch {
        await wait(20)
      } finally {
        await client.end().catch(() => undefined)
      }
    }
    return false
  }

  async #stop(signal: NodeJS.Signals): Promise<void> {
    const running = this.#process
    if (running === undefined || running.exitCode !== null) return
    const gone = new Promise((resolve) => running.once('exit', resolve))
    running.kill(signal)
    await gone
  }
}

const idOf = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}
