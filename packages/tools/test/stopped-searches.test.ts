import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import {
  type AnyTool,
  allowAllTools,
  createAssistantMessage,
  type ExecutorOptions,
  StreamingToolExecutor,
  type ToolResultBlock,
  type ToolUseContext,
} from '../../../src/index.ts'
import { nodeProcessRunner, type ProcessRunner } from '../../../src/node/index.ts'
import { simulatedClock } from '../../../src/testing/index.ts'
import { createTools } from '../src/index.ts'
import { toJavaScript } from '../src/search/dialect/to-javascript.ts'
import { findRipgrep } from '../src/search/ripgrep.ts'
import { startSearchThread } from '../src/search/search-thread.ts'
import { timedSearch } from '../src/search/timed-search.ts'
import { nodeFileSystem } from '../src/workspace/node-file-system.ts'
import { scratch } from './bench.ts'

/** Far more output than a pipe holds: ripgrep cannot have ended when the first part of it arrives. */
const folders = 30
const files = 100
const total = folders * files
const someChars = 20_000
let root = ''

beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'signalbox-tools-')))
  for (let folder = 0; folder < folders; folder++) {
    const path = join(root, `folder${folder}`)
    mkdirSync(path)
    for (let file = 0; file < files; file++) {
      writeFileSync(join(path, `${file}-${'n'.repeat(90)}.txt`), `a needle\n${'hay\n'.repeat(50)}`.repeat(5))
    }
  }
})
afterAll(() => rmSync(root, { recursive: true }))
afterEach(() => void vi.useRealTimers())

interface Settings {
  readonly context?: Partial<ToolUseContext>
  readonly options?: ExecutorOptions
}

/** One call of a tool; `text` is what the model gets. */
function startCall(tools: readonly AnyTool[], name: string, input: object, { context, options }: Settings = {}) {
  const executor = new StreamingToolExecutor(tools, allowAllTools, context ?? {}, { abortGraceMs: 60_000, ...options })
  const text = async (): Promise<string> => {
    let said = ''
    for await (const { message } of executor.getRemainingResults()) {
      if (message.type === 'user') said = String((message.message.content[0] as ToolResultBlock).content)
    }
    return said
  }
  const add = () => executor.addTool({ type: 'tool_use', id: 't', name, input }, createAssistantMessage([]))
  return { executor, add, text }
}

/** The real runner; acts once when some output has arrived, which is far from all. */
function runnerThat(act: (firstOutput: string) => void): ProcessRunner {
  return {
    ...nodeProcessRunner,
    start(command, listener) {
      let output = ''
      return nodeProcessRunner.start(command, {
        ...listener,
        onOutput(chunk) {
          listener.onOutput(chunk)
          const before = output.length
          output += Buffer.from(chunk).toString()
          if (before < someChars && output.length >= someChars) act(output)
        },
      })
    },
  }
}

const shownFiles = (text: string): string[] => [...new Set(text.match(/folder\d+\/\d+-n+\.txt/g) ?? [])]

describe.runIf(findRipgrep() !== undefined)('a search with ripgrep over a real folder', () => {
  const setting = (act: (firstOutput: string) => void): readonly AnyTool[] =>
    createTools({ root, shell: { processRunner: runnerThat(act) } }).tools

  it.each([
    ['Grep', { pattern: 'needle', output_mode: 'content' }, '[Partial result: the search was stopped'],
    ['Grep', { pattern: 'needle' }, '[Partial result: the search was stopped'],
    ['Glob', { pattern: '**/*.txt' }, '[Partial result: the search was stopped'],
  ])('that is aborted keeps what %s %j has found so far', async (name, input, note) => {
    const call = startCall(
      setting(() => call.executor.abort('escape')),
      name,
      input,
    )
    call.add()
    const text = await call.text()
    expect(text).toContain('It was stopped before it finished')
    expect(text).toContain(note)
    const shown = shownFiles(text)
    expect(shown.length).toBeGreaterThan(0)
    expect(shown.length).toBeLessThan(total)
    // as many as any result may have
    expect(text.split('\n').length).toBeLessThan(510)
  })

  it('that the executor times out keeps what it has found', async () => {
    const clock = simulatedClock()
    const tools = setting(() => clock.increment(1_000)).map((tool) => ({ ...tool, timeout: 1_000 }))
    const call = startCall(tools, 'Grep', { pattern: 'needle' }, { options: { clock } })
    call.add()
    const text = await call.text()
    expect(text).toContain('Timeout: the call took longer than 1000 ms and was stopped.')
    expect(shownFiles(text).length).toBeGreaterThan(0)
  })

  it('that reaches its own time limit keeps what it has found, and says what to do', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const call = startCall(
      setting(() => vi.advanceTimersByTime(30_000)),
      'Grep',
      { pattern: 'needle' },
    )
    call.add()
    const text = await call.text()
    expect(text).toContain('[Partial result: the search timed out after 30 s. Search a smaller folder')
    expect(shownFiles(text).length).toBeGreaterThan(0)
  })

  it('shows no file that a rule forbids, and none that has changed since it was found', async () => {
    const first: string[] = []
    const tools = setting((output) => {
      first.push(...shownFiles(output))
      writeFileSync(join(root, first[0] as string), 'nothing of the kind\n')
      call.executor.abort('escape')
    })
    const permissions = { deny: [`Read(folder*/*1-*)`] }
    const call = startCall(tools, 'Grep', { pattern: 'needle', output_mode: 'content' }, { context: { permissions } })
    call.add()
    const text = await call.text()
    const shown = shownFiles(text)
    expect(shown.length).toBeGreaterThan(0)
    expect(first.some((file) => /\/\d*1-/.test(file))).toBe(true)
    expect(shown.filter((file) => /\/\d*1-/.test(file))).toEqual([])
    expect(shown).not.toContain(first[0])
  })
})

describe('a search without ripgrep over a real folder', () => {
  /** The real file system behind another door; acts when a folder is opened for the nth time. */
  const setting = (nth: number, act: () => void, never = false): readonly AnyTool[] => {
    let opened = 0
    const fileSystem = {
      ...nodeFileSystem,
      async openFolder(path: string) {
        if (++opened === nth) {
          act()
          if (never) return new Promise<never>(() => undefined)
        }
        return (nodeFileSystem.openFolder as NonNullable<typeof nodeFileSystem.openFolder>)(path)
      },
    }
    return createTools({ root, fileSystem, ripgrep: false, shell: false }).tools
  }

  it('that is aborted keeps the files that Glob has found so far', async () => {
    const tools = setting(12, () => call.executor.abort('escape'))
    const call = startCall(tools, 'Glob', { pattern: '**/*7-*' })
    call.add()
    const text = await call.text()
    expect(text).toContain('[Partial result: the search was stopped before it finished.]')
    const shown = shownFiles(text)
    expect(shown.length).toBeGreaterThan(0)
    expect(shown.length).toBeLessThan(total / 10)
  })

  it('that is aborted keeps the matches of Grep, even if the file system never answers', async () => {
    // once for each folder of the walk, and then for the folders of each batch of files
    const tools = setting(folders + 12, () => call.executor.abort('escape'), true)
    const call = startCall(tools, 'Grep', { pattern: 'needle' })
    call.add()
    const text = await call.text()
    expect(text).toContain('[Partial result: the search was stopped before it finished.]')
    const shown = shownFiles(text)
    expect(shown.length).toBeGreaterThan(0)
    expect(shown.length).toBeLessThan(total)
  })

  it('that is aborted while it lists the files says that it found nothing yet', async () => {
    const tools = setting(2, () => call.executor.abort('escape'))
    const call = startCall(tools, 'Grep', { pattern: 'needle' })
    call.add()
    expect(await call.text()).toContain(
      '[Partial result: the search was stopped before it finished.]\nNo matches so far.',
    )
  })

  it('keeps what it found before a pattern that never ends', async () => {
    const folder = scratch({ 'a.txt': 'aaa\n', 'b.txt': `${'a'.repeat(60)}b\n` })
    const search = {
      pattern: '^(a+)+$',
      ignoreCase: false,
      multiline: false,
      mode: 'content',
      before: 0,
      after: 0,
    } as const
    const stop = new AbortController()
    const thread = startSearchThread(stop.signal)
    const found: string[] = []
    const request = {
      search,
      pattern: toJavaScript(search.pattern, false, false),
      paths: [join(folder, 'a.txt'), join(folder, 'b.txt')],
      maxFileBytes: 1_000,
      maxLineChars: 100,
      maxLines: 10,
    }
    const end = await thread.scan(request, ({ path }) => {
      found.push(path)
      stop.abort('escape')
    })
    expect(end).toBe('stopped')
    expect(found).toEqual([join(folder, 'a.txt')])
    await thread.end()
  })
})

it('a file that is being read keeps the lines read so far, and does not count as read', async () => {
  const folder = scratch({ 'long.txt': Array.from({ length: 50_000 }, (_, index) => `line ${index + 1}\n`).join('') })
  let reads = 0
  const fileSystem = {
    ...nodeFileSystem,
    async openFolder(path: string) {
      const opened = await (nodeFileSystem.openFolder as NonNullable<typeof nodeFileSystem.openFolder>)(path)
      const openToRead = async (name: string) => {
        const file = await opened.openToRead(name)
        const read = (buffer: Uint8Array, position: number) => {
          if (++reads === 3) call.executor.abort('escape')
          return file.read(buffer, position)
        }
        return { ...file, read }
      }
      return { ...opened, openToRead }
    },
  }
  const { tools } = createTools({ root: folder, fileSystem, ripgrep: false, shell: false })
  const call = startCall(tools, 'Read', { file_path: 'long.txt' })
  call.add()
  const text = await call.text()
  expect(text).toContain('     1\tline 1\n')
  expect(text).toMatch(/\[Partial result: reading was stopped after line \d+ of the file\.\]/)
  const write = startCall(tools, 'Write', { file_path: 'long.txt', content: 'x' })
  write.add()
  expect(await write.text()).toContain('read')
})

it('a search that ended by itself is not called partial, whatever happens right after', async () => {
  const stop = new AbortController()
  const whole = await timedSearch(stop.signal, async () => {
    stop.abort('escape')
    return { isStopped: false }
  })
  expect(whole.stoppedBy).toBeUndefined()
  const part = await timedSearch(
    new AbortController().signal,
    (signal) =>
      new Promise<{ isStopped: true }>((resolve) => {
        signal.addEventListener('abort', () => resolve({ isStopped: true }))
      }),
    1,
  )
  expect(part.stoppedBy).toBe('timeout')
})
