import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { readFile, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createTools } from '../src/index.ts'
import { ripgrepFor } from '../src/search/search-service.ts'
import { nodeFileSystem } from '../src/workspace/node-file-system.ts'
import { put, runTool, scratch } from './bench.ts'

const isFull = process.env.SIGNALBOX_FULL !== undefined
const canHold = nodeFileSystem.openFolder !== undefined

/** Moves a file and a folder away, puts links to outside in their place, and takes them back, as fast as it can. */
const renaming = `
const { renameSync, rmSync } = require('node:fs')
process.chdir(process.argv[1])
process.stdout.write('ready')
const mv = (from, to) => {
  for (;;) {
    try { return renameSync(from, to) }
    // a Write may have made the folder anew
    catch { try { rmSync(to, { recursive: true, force: true }) } catch {} }
  }
}
// never for the same time, so that sooner or later every moment is hit
const hold = () => { for (let left = Math.random() * 20_000; left > 0; left--); }
const swap = (one, link) => { mv(one, one + '.real'); mv(link, one); hold(); mv(one, link); mv(one + '.real', one); hold() }
for (;;) { swap('sub', 'sub.link'); swap('x.txt', 'x.link') }`

/** The same in one step of the kernel (renameat2 with RENAME_EXCHANGE): the names always exist. */
const exchanging = `
chdir($ARGV[0]) or die; $| = 1; print 'ready';
my $call = $ARGV[1] + 0; my $here = -100;
sub swap { my ($one, $link) = @_; syscall($call, $here, $one, $here, $link, 2); for (my $left = rand(2000); $left > 0; $left--) {} }
while (1) { for (1..2) { swap('sub', 'sub.link') } for (1..2) { swap('x.txt', 'x.link') } }`

const exchangeCall = { x64: '316', arm64: '276' }[process.arch as string]
const attacks: Record<string, readonly [program: string, ...args: string[]]> = {
  renames: [process.execPath, '-e', renaming],
  ...(process.platform === 'linux' && exchangeCall !== undefined && spawnSync('perl', ['-v']).status === 0
    ? { exchanges: ['perl', '-e', exchanging] }
    : {}),
}

async function attack(kind: string, root: string): Promise<ChildProcess> {
  const [program, ...args] = attacks[kind] as (typeof attacks)[string]
  const running = spawn(program, [...args, root, exchangeCall ?? ''], { stdio: ['ignore', 'pipe', 'inherit'] })
  const gone = once(running, 'exit')
  onTestFinished(async () => {
    running.kill('SIGKILL')
    await gone
  })
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

const isSearch = (name: string): boolean => /Grep|Glob/.test(name)
const roundsOf = (name: string): number => (isSearch(name) ? (isFull ? 1_000 : 50) : isFull ? 3_000 : 200)

describe.runIf(canHold).each(Object.keys(attacks))('while somebody %s files and folders with links outside', (kind) => {
  for (const ripgrep of [false, ...(ripgrepFor(undefined) === false ? [] : [undefined])] as const) {
    const engine = ripgrep === false ? 'without ripgrep' : 'with ripgrep'
    for (const [name, round] of Object.entries(rounds)) {
      if (ripgrep === undefined && !isSearch(name)) continue
      it(`${name} ${engine} never reaches outside`, { timeout: 600_000 }, async () => {
        const { root, touched } = scene()
        const { tools, close } = createTools({ root, shell: false, ...(ripgrep === false && { ripgrep }) })
        onTestFinished(close)
        const attacker = await attack(kind, root)
        const escapes: string[] = []
        for (let index = 0; index < roundsOf(name); index++) {
          const { text } = await round(tools, index)
          if (isEscape(name, text)) escapes.push(text)
        }
        // it was attacked to the end
        expect(attacker.exitCode).toBeNull()
        expect(escapes).toEqual([])
        expect(touched()).toBe(false)
      })
    }
  }

  it('and that attack is real: a check of the name before the read is not enough', { timeout: 600_000 }, async () => {
    const { root } = scene()
    await attack(kind, root)
    const checkedRead = async (path: string): Promise<string> => {
      const real = await realpath(path)
      return real.startsWith(`${root}/`) ? await readFile(path, 'utf8') : ''
    }
    for (;;) {
      const text = await checkedRead(join(root, 'sub/a.txt')).catch(() => '')
      if (text.includes('SECRET')) return
    }
  })
})
