import { expect } from 'vitest'
import { DidNotRunError, UnknownOutcomeError } from '../../../src/remote/index.ts'
import { heldTool } from '../../support/held-tool.ts'
import { chartValue, flush, takeReady, testTurn } from '../../support/turn.ts'

const unknown = expect.stringContaining('It may or may not have taken effect')
const lost = new UnknownOutcomeError('The worker is gone.')

/** Bodies that were under way elsewhere when the connection to them was lost. */
export const remoteCallsScenarios: Record<string, () => Promise<void>> = {
  async 'an unknown outcome ends a call at once, without retries, and counts as a failure for the calls beside it'() {
    for (const cancelsSiblingsOnError of [true, false]) {
      const tool = heldTool('Far', { cancelsSiblingsOnError, retry: { attempts: 3 } })
      const { add, executor } = testTurn([tool.tool])
      add('f', 'Far')
      tool.run('f').fail(lost)
      await flush()
      expect([tool.started, takeReady(executor)]).toEqual([['f'], [['f', unknown]]])
      expect(chartValue(executor).run).toBe(cancelsSiblingsOnError ? 'siblingErrored' : 'clear')
    }
  },
  async 'a call that was told to stop may have an unknown outcome; only a timeout counts as a failure'() {
    for (const [reason, cancelsSiblingsOnError, run] of [
      ['timeout', true, 'siblingErrored'],
      ['timeout', false, 'clear'],
      ['escape', true, 'aborted'],
    ] as const) {
      const tool = heldTool('Far', { cancelsSiblingsOnError, timeout: 50 })
      const { add, executor, clock } = testTurn([tool.tool])
      add('f', 'Far')
      if (reason === 'timeout') clock.increment(50)
      else executor.abort(reason)
      await flush()
      tool.run('f').fail(lost)
      await flush()
      expect([reason, takeReady(executor), chartValue(executor).run]).toEqual([reason, [['f', unknown]], run])
    }
  },
  async 'a call that was stopped before a worker took it did not run'() {
    const tool = heldTool('Far')
    const { add, executor } = testTurn([tool.tool])
    add('f', 'Far')
    executor.abort('escape')
    await flush()
    tool.run('f').fail(new DidNotRunError('nobody took it'))
    await flush()
    expect(takeReady(executor)).toEqual([['f', expect.stringContaining('cancelled before it started')]])
  },
}
