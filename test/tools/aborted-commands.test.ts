import { chmodSync, copyFileSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createAssistantMessage, StreamingToolExecutor } from '../../src/index.ts'
import { createTools } from '../../src/tools/index.ts'
import { scratch } from './bench.ts'
import { eventually, processesWith } from './processes.ts'

const count = process.env.SIGNALBOX_FULL ? 2_000 : 500
const width = 8

/** By the name of the program, which a dead process keeps. */
function processesNamed(name: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/stat`, 'latin1').includes(`(${name})`)
    } catch {
      return false
    }
  })
}

it(`${count} commands that are aborted at any moment leave no process, no zombie and no file`, async () => {
  const name = `sbx${Math.random().toString(36).slice(2, 10)}`
  const programs = scratch()
  const nap = join(programs, name)
  copyFileSync('/bin/sleep', nap)
  chmodSync(nap, 0o755)
  const commands = [
    'true',
    `${nap} 1000`,
    `${nap} 1000 & ${nap} 1000`,
    `setsid ${nap} 1000 & ${nap} 1000`,
    `trap '' TERM; ${nap} 1000`,
    `(trap '' TERM HUP; exec setsid ${nap} 1000) & exit 0`,
    `(setsid bash -c "${nap} 1000 & ${nap} 1000" &) ; ${nap} 1000`,
    `yes | cat; ${nap} 1000`,
    `nohup ${nap} 1000 >/dev/null 2>&1 & echo on`,
    `while :; do ${nap} 0.01; done`,
    `${nap} 1000 | ${nap} 1000 | ${nap} 1000`,
    `${nap} 1000 & kill -STOP $!; wait`,
  ]
  const root = scratch({ 'a.txt': 'x' })
  const { tools, close } = createTools({ root, shell: { killGraceMs: 30, env: { TOKEN: name }, maxOutputBytes: 1e12 } })
  const listeners = process.listenerCount('exit')
  let next = 0
  let results = 0
  const worker = async (): Promise<void> => {
    while (next < count) {
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
  expect(results).toBe(count)
  expect(await processesWith(`TOKEN=${name}`)).toEqual([])
  await close()
  expect(process.listenerCount('exit')).toBe(listeners)
  expect(readdirSync(root)).toEqual(['a.txt'])
  expect(readdirSync(programs)).toEqual([name])
  // the dead are buried by the first process of the machine, in its own time
  await eventually(() => processesNamed(name).length === 0)
})
