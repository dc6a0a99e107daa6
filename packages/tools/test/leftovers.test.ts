import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createTools } from '../src/index.ts'
import { put, runTool, scratch } from './bench.ts'
import { hostProgram } from './host-program.ts'

it('temporary files of a host that was killed during a write are removed by the next host', async () => {
  const root = scratch({ 'sub/old.txt': 'old' })
  const program = hostProgram(
    scratch(),
    `const fs = await import('node:fs/promises')
    const write = set.tools.find(({ name }) => name === 'Write')
    // the kernel kills it after the bytes are written and before the rename
    const { FileHandle } = { FileHandle: (await fs.open(process.argv[1])).constructor }
    FileHandle.prototype.sync = () => process.kill(process.pid, 'SIGKILL')
    await write.call({ file_path: 'sub/new.txt', content: 'x'.repeat(100_000) }, createToolUseContext(), undefined, createAssistantMessage([]), () => {})`,
  )
  const { signal } = spawnSync(process.execPath, [program, '{}'], { cwd: root })
  expect(signal).toBe('SIGKILL')
  const left = () => readdirSync(join(root, 'sub')).filter((name) => name.startsWith('.signalbox-'))
  expect(left()).toHaveLength(1)
  // a file of the user with a similar name
  put(join(root, '.signalbox-mine.tmp'), 'mine')
  const { tools, close } = createTools({ root, shell: false })
  onTestFinished(close)
  await runTool(tools, 'Write', { file_path: 'other.txt', content: 'x' })
  await close()
  expect(left()).toEqual([])
  expect(existsSync(join(root, '.signalbox-mine.tmp'))).toBe(true)
})

it('the temporary file of a running write is not removed', async () => {
  const root = scratch()
  const { tools, close } = createTools({ root, shell: false })
  onTestFinished(close)
  const writes = Array.from({ length: 20 }, (_, index) =>
    runTool(tools, 'Write', { file_path: `f${index}.txt`, content: 'x'.repeat(10_000) }),
  )
  const others = Array.from({ length: 20 }, () => createTools({ root, shell: false }).close())
  await Promise.all([...writes, ...others])
  expect(readdirSync(root)).toHaveLength(20)
})
