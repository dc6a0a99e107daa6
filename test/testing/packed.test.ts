import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const isFull = process.env.SIGNALBOX_FULL === '1'
const root = resolve(import.meta.dirname, '../..')

const parts = ['src', 'machines', 'examples', 'scripts', 'docs', 'inspector-app/src']

const suite = (framework: string) => `
import { describe, it } from '${framework}'
import { StreamingToolExecutor } from 'signalbox'
import { coverage, describeExecutor, exploreQuery, exploreTurn, heldTool, simulate, watchInvariants, heldTurn, settled } from 'signalbox/testing'

describeExecutor((...args) => new StreamingToolExecutor(...args), { describe, it })

describe('my agent', () => {
  const tools = [heldTool('Read', { safe: true }).tool, heldTool('Edit').tool]
  it('is explored', async () => {
    const { breach, states } = await exploreTurn({ tools, calls: [{ tool: 'Read' }, { tool: 'Edit' }], maxStates: 200 })
    if (breach !== undefined || states < 200) throw new Error(breach?.text ?? String(states))
  })
  it('is simulated', async () => {
    const { breach, runs } = await simulate({ seed: 1, runs: 20, tools })
    if (breach !== undefined || runs !== 20) throw new Error(breach?.text ?? String(runs))
  })
  it('is explored as a whole query', async () => {
    const { breach, states } = await exploreQuery({ tools, replies: [[{ call: 'Read' }]], maxStates: 50 })
    if (breach !== undefined || states < 50) throw new Error(breach?.text ?? String(states))
  })
  it('is watched', async () => {
    const read = heldTool('Read', { safe: true })
    const { executor, add } = heldTurn([read.tool])
    const watch = watchInvariants(executor)
    const taken = coverage()
    taken.watch(executor)
    add('a', 'Read')
    read.run('a').finish()
    await settled()
    for (const _ of executor.getCompletedResults());
    watch.assert()
    if (!watch.evidence.isOver) throw new Error('it is not over')
    if (!taken.save().startsWith('{"signalbox":"coverage"')) throw new Error('there is no coverage')
  })
})
`

const agrees = `
import { z } from 'zod'
import { defineTool } from 'signalbox'
import { type Exploration, exploreTurn, type Hold, type Invariant, turnInvariants } from 'signalbox/testing'
const mine: Invariant = { name: 'mine', check: ({ calls }) => (calls.length > 9 ? 'too many' : undefined) }
const tools = (hold: Hold) => [defineTool({ name: 'A', inputSchema: z.object({}), call: async () => ({ data: await hold('x') }) })]
export const run = (): Promise<Exploration> => exploreTurn({ tools, calls: [{ tool: 'A' }], invariants: [...turnInvariants, mine] })
`

describe('the kit from a packed tarball, in an empty project', () => {
  let folder: string
  const run = (command: string, ...args: string[]) =>
    execFileSync(command, args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'signalbox-testing-'))
    // packed from a copy: another test packs in the project itself, and that begins with an empty dist
    const copy = join(folder, 'copy')
    for (const part of [...parts, 'package.json', 'tsconfig.json', 'tsconfig.build.json', 'CHANGELOG.md']) {
      cpSync(join(root, part), join(copy, part), { recursive: true })
    }
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
    execFileSync('npx', ['tsc', '-p', 'tsconfig.build.json'], { cwd: copy, stdio: 'ignore' })
    execFileSync(process.execPath, ['scripts/build-lib.mjs'], { cwd: copy, stdio: 'ignore' })
    const pack = ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder]
    execFileSync('npm', pack, { cwd: copy, stdio: 'ignore' })
    rmSync(copy, { recursive: true })
    const { version, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    const overrides = { rolldown: '1.2.14' }
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module', overrides }))
    const packages = [
      `./signalbox-${version}.tgz`,
      `vitest@${devDependencies.vitest}`,
      `vite@${devDependencies.vite}`,
      'typescript@7.0.2',
    ]
    run('npm', 'install', '--silent', '--no-audit', '--no-fund', ...packages)
    writeFileSync(join(folder, 'with-vitest.test.js'), suite('vitest'))
    writeFileSync(join(folder, 'with-node.mjs'), suite('node:test'))
    writeFileSync(join(folder, 'agrees.ts'), agrees)
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('Y6 works with Vitest', () => {
    const { numPassedTests, numFailedTests } = JSON.parse(run('npx', 'vitest', 'run', '--reporter=json'))
    expect([numPassedTests, numFailedTests]).toEqual([17, 0])
  })

  it('Y6 works with node:test', () => {
    const report = run(process.execPath, '--test', '--test-reporter=tap', 'with-node.mjs')
    expect(report).toMatch(/^# pass 17$/m)
    expect(report).toMatch(/^# fail 0$/m)
  })

  it.skipIf(!isFull)('Y6 works with Jest, as modules', { timeout: 600_000 }, () => {
    run('npm', 'install', '--silent', '--no-audit', '--no-fund', 'jest@30', '@jest/globals@30')
    writeFileSync(join(folder, 'with-jest.jest.mjs'), suite('@jest/globals'))
    const config = { testMatch: ['**/*.jest.mjs'], moduleFileExtensions: ['mjs', 'js', 'json'], transform: {} }
    const jest = ['node_modules/jest/bin/jest.js', '--json', '--config', JSON.stringify(config)]
    const printed = run(process.execPath, '--experimental-vm-modules', ...jest)
    const { numPassedTests, numFailedTests } = JSON.parse(printed.slice(printed.indexOf('{')))
    expect([numPassedTests, numFailedTests]).toEqual([17, 0])
  })

  it.skipIf(!isFull).each(['20', '22', '24'])('Y6 works with node:test on Node %s', { timeout: 600_000 }, (version) => {
    const args = ['--yes', '-p', `node@${version}`, 'node', '--test', '--test-reporter=tap', 'with-node.mjs']
    const report = run('npx', ...args)
    expect(report).toMatch(/^# pass 17$/m)
    expect(report).toMatch(/^# fail 0$/m)
  })

  it('Y6 type-checks in a strict project that has no Node types', () => {
    const options = ['--strict', '--noEmit', '--module', 'NodeNext', '--target', 'ES2022', '--lib', 'ES2023,DOM']
    expect(run('npx', 'tsc', ...options, '--types', '', 'agrees.ts')).toBe('')
  })
})
