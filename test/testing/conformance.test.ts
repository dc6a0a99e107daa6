import { describe, expect, it } from 'vitest'
import { StreamingToolExecutor } from '../../src/index.ts'
import { describeExecutor, type MakeExecutor } from '../../src/testing/index.ts'

const ours: MakeExecutor = (...args) => new StreamingToolExecutor(...args)

describeExecutor(ours, { describe, it })

describe('the conformance suite', () => {
  const failing = async (make: MakeExecutor): Promise<string[]> => {
    const failed: string[] = []
    const tests: [string, () => Promise<void>][] = []
    describeExecutor(make, { describe: (_, body) => body(), it: (name, body) => tests.push([name, body]) })
    for (const [name, body] of tests) await body().catch(() => failed.push(name.split(' ')[0] as string))
    return failed
  }

  it('Y1 finds an executor that hands over what finishes first', async () => {
    const failed = await failing((...args) => {
      const executor = ours(...args)
      const { getCompletedResults } = executor as StreamingToolExecutor
      return Object.assign(executor, {
        *getCompletedResults() {
          yield* [...getCompletedResults.call(executor as StreamingToolExecutor)].reverse()
        },
      })
    })
    expect(failed).toEqual(['Q3', 'Y2'])
  })

  it('Q4 A4 A5 A7 finds an executor that runs everything, ignores aborts and never waits', async () => {
    const unsafe = await failing((tools, ...rest) =>
      ours(
        tools.map((tool) => ({ ...tool, isConcurrencySafe: () => true })),
        ...rest,
      ),
    )
    expect(unsafe).toContain('Q2')
    const deaf = await failing((...args) => Object.assign(ours(...args), { abort: () => undefined }))
    expect(deaf).toEqual(['A3', 'A7'])
    const chatty = await failing((...args) => Object.assign(ours(...args), { discard: () => [] }))
    expect(chatty).toEqual(['A5'])
  })
})
