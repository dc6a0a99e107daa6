import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { root } from '../support/imports.ts'
import type { EmptyProject } from './empty-project.ts'

const isFull = process.env.SIGNALBOX_FULL === '1'

const suite = (framework: string) => `
import { describe, it } from '${framework}'
import { StreamingToolExecutor } from 'signalbox'
import { coverage, describeExecutor, exploreQuery, exploreTurn, heldTool, simulate, watchInvariants, heldTurn, flush } from 'signalbox/testing'

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
    await flush()
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

/** The tests of the kit, in a project that has only the library. */
export function testKit(project: EmptyProject): void {
  const { run } = project
  beforeAll(() => {
    // the runner is a hundred megabytes and already installed here
    for (const name of ['vitest', 'vite']) {
      symlinkSync(join(root, 'node_modules', name), join(project.folder, 'node_modules', name))
    }
    project.write('with-vitest.test.js', suite('vitest'))
    project.write('with-node.mjs', suite('node:test'))
    project.write('agrees.ts', agrees)
  })

  it('Y6 works with Vitest', () => {
    const { numPassedTests, numFailedTests } = JSON.parse(
      run(process.execPath, 'node_modules/vitest/vitest.mjs', 'run', '--reporter=json', '--testTimeout=120000'),
    )
    expect([numPassedTests, numFailedTests]).toEqual([17, 0])
  })

  it('Y6 works with node:test', () => {
    const report = run(process.execPath, '--test', '--test-reporter=tap', 'with-node.mjs')
    expect(report).toMatch(/^# pass 17$/m)
    expect(report).toMatch(/^# fail 0$/m)
  })

  it.skipIf(!isFull)('Y6 works with Jest, as modules', { timeout: 600_000 }, () => {
    project.install('jest@30', '@jest/globals@30')
    project.write('with-jest.jest.mjs', suite('@jest/globals'))
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
    const options = [
      '--ignoreConfig',
      '--strict',
      '--noEmit',
      '--module',
      'NodeNext',
      '--target',
      'ES2022',
      '--lib',
      'ES2023,DOM',
    ]
    expect(project.compile(...options, '--types', '', 'agrees.ts')).toBe('')
  })
}
