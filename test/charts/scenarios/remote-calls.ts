import { expect } from 'vitest'
import { linkOf, type Place } from '../../../src/pipeline/body-link.ts'
import { DidNotRunError, UnknownOutcomeError } from '../../../src/remote/index.ts'
import { heldTool } from '../../support/held-tool.ts'
import { chartValue, flush, takeReady, testTurn } from '../../support/turn.ts'
import { ids } from './parts.ts'

const unknown = expect.stringContaining('It may or may not have taken effect')
const lost = new UnknownOutcomeError('The worker is gone.')

/** Bodies that were under way elsewhere when the connection to them was lost. */
export const remoteCallsScenarios: Record<string, () => Promise<void>> = {
  async 'the chart shows where a body is: here, on its way, on a worker, and on its way again'() {
    const places: Place[] = [
      { place: 'sent' },
      { place: 'sent', waiting: 4 },
      { place: 'remote', worker: 'w1' },
      { place: 'lost', worker: 'w1' },
      { place: 'sent' },
      { place: 'remote', worker: 'w2' },
    ]
    for (const [told, seen] of [
      [places, ['here', 'sent', 'remote', 'sent', 'remote']],
      [places.slice(2, 3), ['here', 'remote']],
    ] as const) {
      const tool = heldTool('Far')
      const { add, executor } = testTurn([tool.tool])
      add('f', 'Far')
      const chart = executor.actor.getSnapshot().context.run.calls[0]?.ref
      const states: unknown[] = [chart?.getSnapshot().value]
      chart?.subscribe(({ value }: { value: unknown }) => states.push(value))
      for (const place of told) linkOf(tool.run('f').context)?.place(place)
      expect(states).toEqual(seen.map((calling) => ({ executing: { calling } })))
      tool.run('f').finish()
      await flush()
      expect(ids(takeReady(executor))).toEqual(['f'])
    }
  },
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
