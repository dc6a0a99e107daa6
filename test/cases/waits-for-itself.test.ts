import { describe, expect, it } from 'vitest'
import type { StreamingToolExecutor } from '../../src/index.ts'
import { drain, type TestTurn, testTurn } from '../support/turn.ts'
import { collectWarnings, done, expectNoStrays, idsOf, outcomes, roughTool, textOf } from './support.ts'

expectNoStrays()

const ways: Record<string, (executor: StreamingToolExecutor) => Promise<unknown>> = {
  'listens for its result': (executor) => new Promise((resolve) => executor.on('completed', resolve)),
  'reads until the end': (executor) => drain(executor),
}

describe.each(Object.entries(ways))('a body that adds an unsafe call to its own executor and %s', (_, wait) => {
  it('§9 Q4 does not hang: the inner call gets an error result, and the outer call continues', async () => {
    const turn: TestTurn = testTurn([
      roughTool('Parent', async () => {
        turn.add('child', 'Child')
        await wait(turn.executor)
        return { data: 'parent' }
      }),
      roughTool('Child', done),
    ])
    const warnings = collectWarnings(turn.executor)
    turn.add('parent', 'Parent')
    const [parent, child] = await outcomes(turn.executor)
    expect(parent).toMatchObject({ id: 'parent', isError: false })
    expect(child).toMatchObject({ id: 'child', isError: true })
    expect(textOf(child as never)).toContain('can only start after that call ends')
    expect(warnings.of('waits_for_itself')).toHaveLength(1)
  })
})

describe('a body that adds an unsafe call and does not wait', () => {
  it('Q4 the inner call runs when the body has ended', async () => {
    const turn: TestTurn = testTurn([
      roughTool('Parent', async () => {
        turn.add('child', 'Child')
        return { data: 'parent' }
      }),
      roughTool('Child', done),
    ])
    turn.executor.on('completed', () => undefined)
    turn.add('parent', 'Parent')
    expect(idsOf(await drain(turn.executor))).toEqual(['parent', 'child'])
  })
})
