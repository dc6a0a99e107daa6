import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { runInThisContext } from 'node:vm'
import { afterAll, describe, expect, it } from 'vitest'
import { exploreTurn, type FoundStory, heldTool, simulate, type TurnSetup } from '../../src/testing/index.ts'
import { asCode, isWritable } from '../../src/testing/pasted-test.ts'
import { brokenSetups } from './broken-setups.ts'

const root = resolve(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'signalbox-pasted-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** The test pasted below the definitions it needs. */
function paste(name: string, { test, setup }: FoundStory): void {
  const own = ['tools', 'context', 'options', 'invariants', 'state', 'atEnd'].filter((key) =>
    new RegExp(`^ {4}${key}, // define this$`, 'm').test(test),
  )
  expect(own).toContain('tools')
  expect(Object.keys(setup)).toEqual(expect.arrayContaining(own))
  const lines = [
    "import { it } from 'vitest'",
    `import { replayTurn } from '${root}/src/testing/index.ts'`,
    `import { brokenSetups } from '${root}/test/testing/broken-setups.ts'`,
    `const { ${own.join(', ')} } = brokenSetups.${name}`,
    test,
  ]
  writeFileSync(join(folder, `${name}.test.ts`), `${lines.join('\n')}\n`)
}

describe('a test to paste', () => {
  it('Y6 fails with the breach that was found, for every kind of breach', { timeout: 120_000 }, async () => {
    const found = new Map<string, FoundStory>()
    for (const [name, setup] of Object.entries<TurnSetup>(brokenSetups)) {
      const { breach } = await exploreTurn(setup)
      if (breach === undefined) throw new Error(`${name} is not broken`)
      found.set(name, breach)
      paste(name, breach)
    }
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    writeFileSync(join(folder, 'vitest.config.ts'), 'export default {}\n')
    const vitest = join(root, 'node_modules/vitest/vitest.mjs')
    const options = ['run', '--root', folder, '--reporter=json', '--no-file-parallelism', '--no-isolate']
    const { stdout } = spawnSync(process.execPath, [vitest, ...options], { encoding: 'utf8', cwd: folder })
    const { testResults } = JSON.parse(stdout) as {
      testResults: { name: string; assertionResults: { title: string; status: string; failureMessages: string[] }[] }[]
    }
    const seen = new Map(testResults.map(({ name, assertionResults: [result] }) => [name, result]))
    expect(testResults).toHaveLength(found.size)
    for (const [name, { breaches }] of found) {
      const result = seen.get(join(folder, `${name}.test.ts`))
      const [breach] = breaches
      expect([name, result?.status, result?.title]).toEqual([name, 'failed', `holds: ${breach?.invariant}`])
      expect(result?.failureMessages[0]).toContain(`Error: ${breach?.invariant}: ${breach?.problem}`)
    }
  })

  it('contains the whole setup: phases, arrival, happenings, context, options, calls', async () => {
    const { breach } = await exploreTurn(brokenSetups.aHappening)
    expect(breach?.test).toContain('    happenings: { hostAbort: true, abort: true, flood: true },')
    expect(breach?.test).toContain('    options: { abortGraceMs: 700, maxBufferedProgress: 3 },')
    expect(breach?.test).toContain('    invariants, // define this')
    const inContext = await exploreTurn(brokenSetups.theContext)
    expect(inContext.breach?.test).toContain("    context: { permissions: { deny: ['Edit'] } },")
    const withCode = await exploreTurn(brokenSetups.codeInTheContext)
    expect(withCode.breach?.test).toContain('    context, // define this')
    const stuck = await exploreTurn(brokenSetups.itNeverEnds)
    expect(stuck.breach?.test).toContain('  ], { mustEnd: true })')
  })

  it('is also generated for a breach found by a simulation', async () => {
    const wish = { name: 'no call', check: ({ calls }: { calls: readonly { id: string }[] }) => calls[0]?.id }
    const { breach } = await simulate({ seed: 1, tools: [heldTool('Read').tool], invariants: [wish] })
    expect(breach?.test).toMatch(/^ {4}happenings: \{ flood: true, .*\},$/m)
    expect(breach?.test).toMatch(
      /^ {4}options: \{ maxConcurrency: \d, abortGraceMs: 100, maxBufferedProgress: 10 \},$/m,
    )
  })

  it('writes any writable value so that it evaluates to the same value', () => {
    const values = [
      { a: 1, 'b-c': [true, null, -0, 1e21], __proto__x: 12n },
      'it\'s "so" \\ \n \r \u2028 \u0000 \u{1f600}',
      JSON.parse('{"__proto__":{"x":1},"2":3}'),
      [],
      {},
    ]
    for (const value of values) expect(runInThisContext(`(${asCode(value)})`)).toEqual(value)
    expect(asCode({ a: undefined })).toBe('{}')
    expect([{ a: [() => 1] }, new Map(), Symbol('x')].some(isWritable)).toBe(false)
  })
})
