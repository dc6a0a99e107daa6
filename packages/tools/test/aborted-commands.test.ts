import { readdirSync } from 'node:fs'
import { expect, it } from 'vitest'
import { createAssistantMessage, StreamingToolExecutor } from '../../../src/index.ts'
import { createTools, type Isolation } from '../src/index.ts'
import { scratch } from './bench.ts'
import { isolations, leavers, sleeper } from './isolations.ts'
import { eventually, processesNamed, processesWith } from './processes.ts'

const count = process.env.SIGNALBOX_FULL ? 2_000 : 500
const width = 8
/** The default isolation ends all of them. */
const countFor = (isolation: Isolation): number => (isolation === isolations[0] ? count : count / 5)

it.each(
  isolations,
)(`${count} commands that are aborted at any moment leave no process, no zombie and no file (%s)`, async (isolation) => {
  const total = countFor(isolation)
  const { nap, name, folder } = sleeper()
  const commands = [
    'true',
    `${nap} 1000`,
    `yes | cat; ${nap} 1000`,
    `while :; do ${nap} 0.01; done`,
    ...leavers(nap, isolation),
  ]
  const root = scratch({ 'a.txt': 'x' })
  const { tools, close } = createTools({
    root,
    shell: { isolation, killGraceMs: 30, env: { TOKEN: name }, maxOutputBytes: 1e12 },
  })
  const listeners = process.listenerCount('exit')
  let next = 0
  let results = 0
  const worker = async (): Promise<void> => {
    while (next < total) {
      const command = commands[next++ % commands.length]
      const executor = new StreamingToolExecutor(
        tools,
        async () => ({ behavior: 'allow' }),
        {},
        { abortGraceMs: 60_000 },
      )
      executor.addTool(
        { type: 'tool_use', id: `t${next}`, name: 'Bash', input: { command } },
        createAssistantMessage([]),
      )
      const timer = setTimeout(() => executor.abort('escape'), Math.random() ** 2 * 120)
      for await (const { message } of executor.getRemainingResults()) if (message.type === 'user') results++
      clearTimeout(timer)
    }
  }
  await Promise.all(Array.from({ length: width }, worker))
  expect(results).toBe(total)
  expect(await processesWith(`TOKEN=${name}`)).toEqual([])
  if (isolation === 'namespace') expect(processesNamed(name)).toEqual([])
  await close()
  expect(process.listenerCount('exit')).toBe(listeners)
  expect(readdirSync(root)).toEqual(['a.txt'])
  expect(readdirSync(folder)).toEqual([name])
  // without a namespace, init reaps the ended processes later
  await eventually(() => processesNamed(name).length === 0)
})
