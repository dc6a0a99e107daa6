import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createTools } from '../src/index.ts'
import { ripgrepFor } from '../src/search/search-service.ts'
import { nodeFileSystem } from '../src/workspace/node-file-system.ts'
import { put, runTool, scratch } from './bench.ts'

const isFull = process.env.SIGNALBOX_FULL !== undefined
const canHold = nodeFileSystem.openFolder !== undefined

// replaces a file and a folder with links to another folder, and restores them, as fast as possible
const attacker = `
const { renameSync: mv } = require('node:fs')
process.chdir(process.argv[1])
process.stdout.write('ready')
// with varying delays, so that every moment is hit eventually
const hold = () => { for (let left = Math.random() * 20_000; left > 0; left--); }
const swap = (one, link) => { mv(one, one + '.real'); mv(link, one); hold(); mv(one, link); mv(one + '.real', one); hold() }
for (;;) { swap('sub', 'sub.link'); swap('x.txt', 'x.link') }`

async function attack(root: string): Promise<ChildProcess> {
  const running = spawn(process.execPath, ['-e', attacker, root], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void running.kill('SIGKILL'))
  await new Promise((ready) => running.stdout?.once('data', ready))
  return running
}

/** A workspace and a folder outside it, with secret files of the same names. */
function scene() {
  const outside = scratch({ 'a.txt': 'SECRET outside\n', 'x.txt': 'SECRET outside\n', 'SECRET-name.txt': 'SECRET\n' })
  const root = scratch({ 'x.txt': 'inside\n', 'sub/a.txt': 'inside\n', 'sub/deep/b.txt': 'inside\n' })
  mkdirSync(join(outside, 'deep'))
  put(join(outside, 'deep/b.txt'), 'SECRET outside\n')
  symlinkSync(outside, join(root, 'sub.link'))
  symlinkSync(join(outside, 'x.txt'), join(root, 'x.link'))
  const before = listing(outside)
  return { root, outside, touched: () => listing(outside) !== before }
}

const listing = (folder: string): string =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}: ${readFileSync(join(entry.parentPath, entry.name), 'utf8')}`)
    .sort()
    .join('\n')

type Round = (tools: ReturnType<typeof createTools>['tools'], round: number) => Promise<{ text: string }>
const rounds: Record<string, Round> = {
  'Read of a file': (tools) => runTool(tools, 'Read', { file_path: 'x.txt' }),
  'Read in a folder': (tools) => runTool(tools, 'Read', { file_path: 'sub/a.txt' }),
  'Write into a folder': (tools, round) =>
    runTool(tools, 'Write', { file_path: `sub/w${round % 7}/n${round}.txt`, content: 'x' }),
  'Write over a file': async (tools) => {
    await runTool(tools, 'Read', { file_path: 'sub/a.txt' })
    return runTool(tools, 'Write', { file_path: 'sub/a.txt', content: 'inside\n' })
  },
  'Edit in a folder': async (tools, round) => {
    await runTool(tools, 'Read', { file_path: 'sub/a.txt' })
    return runTool(tools, 'Edit', { file_path: 'sub/a.txt', old_string: 'inside', new_string: `inside${round}` })
  },
  'Grep of a file': (tools) => runTool(tools, 'Grep', { pattern: 'outside', path: 'x.txt', output_mode: 'content' }),
  'Grep of a folder': (tools, round) =>
    runTool(tools, 'Grep', {
      pattern: 'outside',
      output_mode: (['content', 'count', 'files_with_matches'] as const)[round % 3],
    }),
  Glob: (tools) => runTool(tools, 'Glob', { pattern: '**/*' }),
}
/** Data from outside: content, names, or a match. */
const isEscape = (name: string, text: string): boolean =>
  text.includes('SECRET') || (name.startsWith('Grep') && !/^No match|tool_use_error/.test(text))

describe.runIf(canHold)('while files and folders are swapped for links that lead outside', () => {
  for (const ripgrep of [false, ...(ripgrepFor(undefined) === false ? [] : [undefined])] as const) {
    const engine = ripgrep === false ? 'without ripgrep' : 'with ripgrep'
    for (const [name, round] of Object.entries(rounds)) {
      const isSearch = /Grep|Glob/.test(name)
      if (ripgrep === undefined && !isSearch) continue
      const count = isSearch ? (isFull ? 600 : 40) : isFull ? 5_000 : 250
      it(`${name} ${engine} never reads or writes outside`, { timeout: 600_000 }, async () => {
        const { root, touched } = scene()
        const { tools, close } = createTools({ root, shell: false, ...(ripgrep === false && { ripgrep }) })
        onTestFinished(close)
        await attack(root)
        const escapes: string[] = []
        for (let index = 0; index < count; index++) {
          const { text } = await round(tools, index)
          if (isEscape(name, text)) escapes.push(text)
        }
        expect(escapes).toEqual([])
        expect(touched()).toBe(false)
      })
    }
  }
})
