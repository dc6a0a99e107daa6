import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createAssistantMessage, StreamingToolExecutor } from '../../../src/index.ts'
import { createTools } from '../src/index.ts'
import { scratch } from './bench.ts'

/** Runs a command in real bash, and acts once it has printed. */
async function stopped(command: string, stop: (executor: StreamingToolExecutor) => void) {
  const root = scratch({})
  const { tools, close } = createTools({ root, shell: { killGraceMs: 30 } })
  const executor = new StreamingToolExecutor(tools, async () => ({ behavior: 'allow' }), {}, { abortGraceMs: 60_000 })
  executor.addTool({ type: 'tool_use', id: 't', name: 'Bash', input: { command } }, createAssistantMessage([]))
  let text = ''
  for await (const { message: each } of executor.getRemainingResults()) {
    if (each.type === 'progress') stop(executor)
    if (each.type !== 'user' || typeof each.message.content === 'string') continue
    const [block] = each.message.content
    if (block?.type === 'tool_result') text = String(block.content)
  }
  await close()
  return { root, text }
}

describe('a command that is stopped', () => {
  const command = 'touch first; echo begun; sleep 20; touch second'

  it('W8 A7 reports that it did not finish, with its output so far', async () => {
    const { root, text } = await stopped(command, (executor) => executor.abort('escape'))
    expect([existsSync(join(root, 'first')), existsSync(join(root, 'second'))]).toEqual([true, false])
    expect(text).toContain('stopped before it finished')
    expect(text).toContain('Its output so far:\nbegun')
    expect(text).not.toContain('had already finished')
  })
})

describe('a command that fails', () => {
  /** The outcome of calls that wait behind a failing command. */
  const after = async (failing: string): Promise<string[]> => {
    const { tools, close } = createTools({ root: scratch({ 'a.txt': 'x' }) })
    const executor = new StreamingToolExecutor(tools, async () => ({ behavior: 'allow' }))
    const message = createAssistantMessage([])
    const add = (id: string, name: string, input: unknown) =>
      executor.addTool({ type: 'tool_use', id, name, input }, message)
    add('fails', 'Bash', { command: failing })
    add('writes', 'Bash', { command: 'touch b.txt' })
    add('reads', 'Bash', { command: 'cat a.txt' })
    add('read', 'Read', { file_path: 'a.txt' })
    const cancelled: string[] = []
    for await (const { message: each } of executor.getRemainingResults()) {
      if (JSON.stringify(each).includes('Cancelled: parallel tool call') && each.type === 'user') {
        const [block] = each.message.content as { tool_use_id: string }[]
        cancelled.push(block?.tool_use_id ?? '')
      }
    }
    await close()
    return cancelled
  }

  it('T5 A2 cancels only commands with effects', async () => {
    expect(await after('touch c.txt; exit 3')).toEqual(['writes'])
  })

  it('T5 A2 cancels no call if it only reads', async () => {
    expect(await after('cat missing.txt')).toEqual([])
  })
})
