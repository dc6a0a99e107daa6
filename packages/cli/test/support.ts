import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { builtProject } from '../../../scripts/built-project.mjs'
import { watchedChild } from '../../../test/support/children/watched-children.ts'
import { noHome } from './fake-io.ts'

/** The command line as shipped. */
export const builtCli = (): string => join(builtProject(), 'packages/cli/dist/main.js')

/** A folder that is removed after the tests of the file. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-cli-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly out: string
  readonly err: string
}

export interface Started {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  /** Resolves when this text has been printed. */
  printed(text: string): Promise<void>
}

/** Starts the command line without a terminal. */
export function start(cli: string, args: readonly string[], given: StartOptions = {}): Started {
  const { NO_COLOR: _, FORCE_COLOR: __, ANTHROPIC_API_KEY: ___, ...env } = process.env
  const child = spawn(process.execPath, [cli, ...args], {
    cwd: given.cwd,
    env: { ...env, ...watchedChild, SIGNALBOX_HOME: noHome, ...given.env },
    stdio: 'pipe',
  })
  let [out, err] = ['', '']
  let heard = (): void => undefined
  child.stdout.on('data', (bytes) => {
    out += bytes
    heard()
  })
  child.stderr.on('data', (bytes) => {
    err += bytes
  })
  if (given.input !== 'open') child.stdin.end(given.input ?? '')
  const ended = new Promise<Ended>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal, out, err }))
  })
  const printed = (text: string) =>
    new Promise<void>((resolve, reject) => {
      heard = () => out.includes(text) && resolve()
      heard()
      void ended.then(() => reject(new Error(`It ended without ${text}:\n${out}\n${err}`)))
    })
  return { child, ended, printed }
}

interface StartOptions {
  readonly cwd?: string
  readonly env?: Record<string, string>
  readonly input?: string
}

export const run = (cli: string, args: readonly string[], given?: StartOptions): Promise<Ended> =>
  start(cli, args, given).ended

/** A script for `run --script` in its own folder, with a file to work on. */
export function makeScript(folder: string, name: string, script: unknown): string {
  const path = join(folder, name)
  writeFileSync(path, typeof script === 'string' ? script : JSON.stringify(script))
  return path
}
