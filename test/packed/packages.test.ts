import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { root } from '../support/imports.ts'
import { emptyProject, strictly, tarballOf } from './empty-project.ts'

const names = ['tools', 'mcp', 'postgres', 'bullmq', 'cli', 'xstate-inspect', 'stately-inspect']

/** Both bridges in one project, each with the receiver of its own package. */
const bridged = `
import { createWebSocketReceiver as statelyReceiver } from '@statelyai/inspect'
import { showInStately } from '@signalbox/stately-inspect'
import { serveStatelyInspect } from '@signalbox/stately-inspect/server'
import { showInWindow } from '@signalbox/xstate-inspect'
import { serveXStateInspect } from '@signalbox/xstate-inspect/server'
import { createRequire } from 'node:module'
import { allowAllTools, StreamingToolExecutor } from 'signalbox'
import { WebSocket } from 'ws'

const executor = new StreamingToolExecutor([], allowAllTools)
const stately = await serveStatelyInspect(executor)
const xstate = await serveXStateInspect(executor, { allowCommands: ['interrupt'] })
Object.assign(globalThis, { WebSocket })
// XState 4 is installed beside the package that needs it
const bridge = createRequire(import.meta.resolve('@signalbox/xstate-inspect'))
const { createWebSocketReceiver } = bridge('@xstate/inspect')
const seen = await Promise.all([
  new Promise((resolve) => statelyReceiver({ server: stately.server }).subscribe((event) => resolve(event.type))),
  new Promise((resolve) =>
    createWebSocketReceiver({ server: xstate.server }).subscribe((event: { machine: { id: string } }) => resolve(event.machine.id)),
  ),
])
await stately.close()
await xstate.close()
console.log(JSON.stringify([...seen, typeof showInWindow, typeof showInStately]))
`

/** The program in the README of a package. */
const programOf = (name: string): string =>
  /```ts\n([\s\S]*?)```/.exec(readFileSync(join(root, 'packages', name, 'README.md'), 'utf8'))?.[1] ?? ''

describe('all packages in an empty project', () => {
  const project = emptyProject()
  beforeAll(() => {
    const tarballs = ['signalbox', ...names.map((name) => `@signalbox/${name}`)].map(tarballOf)
    const others = ['@types/node@20', '@types/ws@8', 'ws@8', '@statelyai/inspect@0.7.2']
    project.install(...tarballs, ...others, '@modelcontextprotocol/server-filesystem@2026.8.31')
    project.write('bridged.ts', bridged)
    for (const name of ['tools', 'mcp', 'postgres']) project.write(`${name}.ts`, programOf(name))
    const compilerOptions = { ...strictly, types: ['node'] }
    project.write('tsconfig.json', JSON.stringify({ compilerOptions, include: ['*.ts'] }))
  })

  it('install without a flag, with nothing missing or invalid', () => {
    expect(JSON.parse(project.run('npm', 'ls', '--all', '--json')).problems).toBeUndefined()
  })

  it('share one copy of the library and of xstate 5', () => {
    const found = JSON.parse(project.run('npm', 'query', '[name="signalbox"], [name="xstate"]')) as {
      name: string
      version: string
    }[]
    const versions = found.map(({ name, version }) => `${name}@${version.split('.', 1)[0]}`)
    expect(versions.sort()).toEqual(['signalbox@0', 'xstate@4', 'xstate@5'])
  })

  it('type-check in a strict project that checks its libraries', () => {
    expect(project.compile('-p', 'tsconfig.json')).toBe('')
  })

  it('tools: the program of the README runs, and its errors are the library’s class', () => {
    expect(project.run(process.execPath, 'out/tools.js')).toContain('package.json')
    const program = `
      import { SignalboxError } from 'signalbox'
      import { createTools } from '@signalbox/tools'
      try { createTools({ root: '/no/such/folder' }) } catch (error) { console.log(error instanceof SignalboxError) }`
    expect(project.run(process.execPath, '--input-type=module', '-e', program)).toBe('true\n')
  })

  it('mcp: the program of the README runs', () => {
    expect(project.run(process.execPath, 'out/mcp.js')).toContain('[FILE] package.json')
  })

  it('cli: its version is its own, and its help names the commands', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'packages/cli/package.json'), 'utf8'))
    expect(project.run('npx', 'signalbox', '--version')).toBe(`${version}\n`)
    expect(project.run('npx', 'signalbox', '--help')).toContain('inspect [options] [recording]')
  })

  it('cli: its demo runs with all its tools', () => {
    const said = project.run('npx', '@signalbox/cli', 'demo', '--fast')
    expect(said).toContain('✓ #4 Grep')
    expect(said).toContain('✗ #5 Bash(node check.js) · failed')
    expect(said).toContain('· Done: 5 turns, 11 calls')
    expect(said).toContain('npx @signalbox/cli run --help')
  })

  it('cli: without a client, a real model reports what is missing', () => {
    const env = { ...process.env, ANTHROPIC_API_KEY: 'none' }
    const cli = join(project.folder, 'node_modules/.bin/signalbox')
    const run = () =>
      execFileSync(cli, ['run', 'Hello.'], { cwd: project.folder, env, encoding: 'utf8', stdio: 'pipe' })
    expect(run).toThrow(
      expect.objectContaining({ status: 2, stderr: expect.stringContaining('npm install @anthropic-ai/sdk') }),
    )
  })

  it('xstate-inspect and stately-inspect: both bridges run side by side', () => {
    const seen = ['@xstate.actor', 'executor', 'function', 'function']
    expect(JSON.parse(project.run(process.execPath, 'out/bridged.js'))).toEqual(seen)
  })
})
