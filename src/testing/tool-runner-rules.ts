import { expectSame } from './expect-same.ts'
import type { RunnerAbility, RunnerBench } from './runner-bench.ts'
import { suiteTool } from './runner-tools.ts'

interface RunnerRule {
  /** The abilities of a runner that the rule needs. */
  readonly needs?: RunnerAbility
  test(bench: RunnerBench): Promise<void>
}

const never = 'DidNotRunError'
const unknown = 'UnknownOutcomeError'

/** The rules of a runner, by name. */
export const toolRunnerRules: Record<string, RunnerRule> = {
  'R2 R12 the result crosses over, with the id and the picked context': {
    async test(bench) {
      const sent = bench.send('Answer', { say: 'hä 👋' }, { toolUseID: 'id-1', context: { tenant: 't' } })
      const result = await sent.result
      expectSame('result', result, {
        data: { said: 'hä 👋', toolUseID: 'id-1', tenant: 't' },
        structuredOutput: { a: 1 },
      })
      expectSame(
        'places',
        sent.places.map(({ place }) => place),
        ['sent', 'remote'],
      )
    },
  },
  'R2 what the tool threw is thrown, with its name and code': {
    async test(bench) {
      expectSame('thrown', await bench.send('Throw').told, 'RangeError: no such row (ENOROW)')
    },
  },
  'R2 the same key is the same job: while it runs, and after it has ended': {
    async test(bench) {
      const first = bench.send('Pause', { ms: 200 }, { key: 'same' })
      const second = bench.send('Pause', { ms: 200 }, { key: 'same' })
      expectSame('both', await Promise.all([first.told, second.told]), ['finished', 'finished'])
      expectSame('again', await bench.send('Pause', { ms: 200 }, { key: 'same' }).told, 'finished')
      expectSame('begun', await bench.begun('same'), 1)
      const fails = [bench.send('Throw', {}, { key: 'fails' }), bench.send('Throw', {}, { key: 'fails' })]
      expectSame('errors', new Set(await Promise.all(fails.map(({ told }) => told))).size, 1)
      expectSame('begun once', await bench.begun('fails'), 1)
    },
  },
  'R12 progress arrives in order, and the last one always': {
    async test(bench) {
      const { told, progress } = bench.send('Steps', { steps: 50 })
      expectSame('result', await told, 'done')
      const sorted = [...(progress as number[])].sort((a, b) => a - b)
      expectSame('order', progress, sorted)
      expectSame('last', progress.at(-1), 50)
    },
  },
  'R12 a context modifier does not cross over, and the result says so': {
    async test(bench) {
      expectSame('result', await bench.send('Twist').result, { data: 1, dropped: ['contextModifier'] })
    },
  },
  'R5 a call that is aborted before it is sent does not run': {
    async test(bench) {
      const sent = bench.send('Answer', {}, { key: 'early', signal: AbortSignal.abort('early') })
      expectSame('told', await sent.told, never)
      expectSame('begun', await bench.begun('early'), 0)
    },
  },
  'R5 a call that is aborted while it waits does not run': {
    async test(bench) {
      const holders = [bench.send('Hold'), bench.send('Hold')]
      await Promise.all(holders.map(({ began }) => began))
      const waiting = bench.send('Hold', {}, { key: 'waiting' })
      await until(() => waiting.places.length === 1)
      waiting.abort('changed my mind')
      expectSame('told', await waiting.told, never)
      for (const { abort } of holders) abort('over')
      expectSame('holders', await Promise.all(holders.map(({ told }) => told)), ['stopped', 'stopped'])
      expectSame('after', await bench.send('Answer', { say: 'next' }).told.then(Boolean), true)
      expectSame('begun', await bench.begun('waiting'), 0)
    },
  },
  'R5 a call that is aborted while it runs may end by itself': {
    async test(bench) {
      const sent = bench.send('Hold')
      await sent.began
      sent.abort('enough')
      expectSame('result', await sent.result, { data: 'stopped', interrupted: true })
    },
  },
  'R5 a body that does not stop within its grace period is killed': {
    async test(bench) {
      const sent = bench.send('Deaf', {}, { key: 'deaf', abortGraceMs: 50 })
      await sent.began
      sent.abort('enough')
      const told = String(await sent.told)
      expectSame('told', told.startsWith('AbortError'), true)
      expectSame('its place is free', await bench.send('Answer', { say: 1 }).told.then(Boolean), true)
    },
  },
  'R5 an abort after the end changes nothing': {
    async test(bench) {
      const sent = bench.send('Answer', { say: 'x' }, { key: 'over' })
      const first = await sent.told
      sent.abort('too late')
      expectSame('again', await bench.send('Answer', { say: 'x' }, { key: 'over' }).told, first)
      expectSame('begun', await bench.begun('over'), 1)
    },
  },
  'R7 the body of a lost worker has an unknown outcome, and does not run again': {
    needs: 'killWorker',
    async test(bench) {
      const sent = bench.send('SecondTime', {}, { key: 'lost' })
      await sent.began
      await bench.given.killWorker?.()
      expectSame('told', await sent.told, unknown)
      expectSame('sent again', await bench.send('SecondTime', {}, { key: 'lost' }).told, unknown)
      expectSame('begun', await bench.begun('lost'), 1)
    },
  },
  'R3 R7 a read-only call of a lost worker runs once more': {
    needs: 'killWorker',
    async test(bench) {
      const sent = bench.send('SecondTime', {}, { key: 'reads', again: true })
      await sent.began
      await bench.given.killWorker?.()
      expectSame('told', await sent.told, 'second time')
      expectSame('begun', await bench.begun('reads'), 2)
    },
  },
  'R10 another host attaches to a job that runs, and to one that has ended': {
    needs: 'anotherHost',
    async test(bench) {
      const first = bench.send('Pause', { ms: 300 }, { key: 'shared' })
      await first.began
      const runner = await bench.given.anotherHost?.()
      if (runner === undefined) throw new Error('anotherHost returned no runner')
      const second = bench.send('Pause', { ms: 300 }, { key: 'shared', attach: true, runner })
      expectSame('both', await Promise.all([first.told, second.told]), ['finished', 'finished'])
      const late = bench.send('Pause', { ms: 300 }, { key: 'shared', attach: true, runner })
      expectSame('late', await late.told, 'finished')
      expectSame('begun', await bench.begun('shared'), 1)
    },
  },
  'R8 R10 nobody sends a call again whose job is gone, unless it is read-only': {
    async test(bench) {
      expectSame('effects', await bench.send('Answer', {}, { key: 'gone', attach: true }).told, unknown)
      const again = bench.send('Answer', { say: 'read' }, { key: 'read', attach: true, again: true })
      expectSame('read-only', await again.told.then((told) => (told as { said: unknown }).said), 'read')
      expectSame('begun', [await bench.begun('gone'), await bench.begun('read')], [0, 1])
    },
  },
  'R8 a job that is gone while it runs has an unknown outcome': {
    needs: 'forgetJobs',
    async test(bench) {
      const sent = bench.send('Hold', {}, { key: 'flushed' })
      await sent.began
      await bench.given.forgetJobs?.()
      expectSame('told', await sent.told, unknown)
      expectSame('begun', await bench.begun('flushed'), 1)
    },
  },
  'R9 an engine that restarts costs no result': {
    needs: 'restartEngine',
    async test(bench) {
      const sent = bench.send('Pause', { ms: 1_500 }, { key: 'restarted' })
      await sent.began
      await bench.given.restartEngine?.()
      expectSame('told', await sent.told, 'finished')
      expectSame('begun', await bench.begun('restarted'), 1)
    },
  },
  'R4 everything settles although no event arrives': {
    needs: 'dropEvents',
    async test(bench) {
      await bench.given.dropEvents?.()
      const sent = [bench.send('Answer', { say: 1 }), bench.send('Throw'), bench.send('Steps', { steps: 3 })]
      const told = await Promise.all(sent.map((each) => each.told))
      expectSame(
        'told',
        [(told[0] as { said: unknown }).said, ...told.slice(1)],
        [1, 'RangeError: no such row (ENOROW)', 'done'],
      )
      expectSame('last progress', sent[2]?.progress.at(-1), 3)
      const held = bench.send('Hold')
      await until(async () => (await bench.begun()) === 3)
      held.abort('enough')
      expectSame('aborted', await held.told, 'stopped')
    },
  },
  'R6 a call that nobody takes does not run': {
    needs: 'removeWorkers',
    async test(bench) {
      const runner = await bench.given.removeWorkers?.()
      if (runner === undefined) throw new Error('removeWorkers returned no runner')
      expectSame('told', await bench.send('Answer', {}, { runner }).told, never)
    },
  },
  'R7 a body that blocks its process still ends with its result': {
    async test(bench) {
      expectSame('told', await bench.send('Busy', { ms: 1_500 }, { key: 'busy' }).told, 'finished')
      expectSame('begun', await bench.begun('busy'), 1)
    },
  },
  'R13 a result of a megabyte arrives, or a reference to it does': {
    async test(bench) {
      const { data, stored } = await bench.send('Long', { size: 1_000_000 }).result
      const size = stored === undefined ? (data as string).length : stored.size
      expectSame('size', size, 1_000_000)
      if (stored !== undefined) expectSame('path', typeof stored.path === 'string' && stored.path !== '', true)
    },
  },
  'R14 a worker refuses another version, another schema and a tool that it does not have': {
    async test(bench) {
      const tools = [
        suiteTool('Versioned', { version: '1' }),
        suiteTool('Versioned', { version: undefined }),
        suiteTool('Versioned', { schemaHash: 'other' }),
        suiteTool('Missing'),
      ]
      for (const tool of tools) {
        expectSame(
          JSON.stringify(tool),
          await bench.send('Versioned', {}, { tool, key: `refused${tools.indexOf(tool)}` }).told,
          never,
        )
      }
      expectSame('begun', await bench.begun(), 0)
      expectSame('right version', await bench.send('Versioned').told, 'version 2')
    },
  },
  'R14 a worker parses the input again': {
    async test(bench) {
      expectSame('told', await bench.send('Answer', { isWrong: true }).told, never)
      expectSame('begun', await bench.begun(), 0)
    },
  },
}

/** Looks again and again: what it waits for happens in another process. */
async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 10))
}
