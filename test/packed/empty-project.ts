import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll } from 'vitest'
import { builtProject } from '../../scripts/built-project.mjs'
import { watchedPackage } from '../support/children/watched-children.ts'
import { root } from '../support/imports.ts'

const tarballs = join(builtProject(), 'tarballs')

/** The tarball of a package: `signalbox`, or `@signalbox/tools`. */
export function tarballOf(name: string): string {
  const start = `${name.replace('@', '').replace('/', '-')}-`
  const file = readdirSync(tarballs).find((each) => each.startsWith(start) && /^\d/.test(each.slice(start.length)))
  if (file === undefined) throw new Error(`${name} was not packed: ${readdirSync(tarballs).join(', ')}`)
  return join(tarballs, file)
}

export interface EmptyProject {
  readonly folder: string
  run(command: string, ...args: string[]): string
  /** Runs a command that may fail. */
  attempt(command: string, ...args: string[]): { status: number | null; stdout: string; stderr: string }
  install(...packages: string[]): string
  write(name: string, text: string): void
  read(name: string): string
  /** Compiles with the TypeScript of this repository; returns its errors. */
  compile(...args: string[]): string
  remove(): void
}

/** A separate project, removed after the tests. */
export function emptyProject(manifest: object = {}): EmptyProject {
  const project = temporaryProject(manifest)
  afterAll(project.remove)
  return project
}

/** The same inside one test. */
export function temporaryProject(manifest: object = {}): EmptyProject {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-packed-'))
  const remove = (): void => rmSync(folder, { recursive: true, force: true })
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module', ...manifest }))
  // Vitest sets NODE_ENV to `test`, which a host would not
  const { NODE_ENV: _, ...host } = process.env
  // npm runs no query
  const envOf = (command: string) => (command === 'npm' ? host : { ...host, ...watchedPackage })
  const attempt: EmptyProject['attempt'] = (command, ...args) =>
    spawnSync(command, args, { cwd: folder, encoding: 'utf8', env: envOf(command) })
  const run: EmptyProject['run'] = (command, ...args) =>
    execFileSync(command, args, {
      cwd: folder,
      encoding: 'utf8',
      env: envOf(command),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  return {
    folder,
    run,
    attempt,
    install: (...packages) => run('npm', 'install', '--silent', '--no-audit', '--no-fund', ...packages),
    write(name, text) {
      mkdirSync(dirname(join(folder, name)), { recursive: true })
      writeFileSync(join(folder, name), text)
    },
    read: (name) => readFileSync(join(folder, name), 'utf8'),
    compile: (...args) => attempt(join(root, 'node_modules/.bin/tsc'), ...args).stdout,
    remove,
  }
}

/** Settings of a strict project without Node types that also checks the types of its libraries. */
export const strictly = {
  strict: true,
  module: 'NodeNext',
  target: 'ES2022',
  outDir: 'out',
  lib: ['ES2023', 'DOM'],
  types: [] as string[],
}
