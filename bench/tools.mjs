// Compares Glob and Grep on a large tree with plain ripgrep and with a library.
// node bench/tools.mjs [--quick] [--rounds 5]. Needs a build; compares only what is installed.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { glob } from 'tinyglobby'
import { createAssistantMessage, StreamingToolExecutor } from '../dist/src/index.js'
import { createTools } from '../packages/tools/dist/index.js'

const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false }, rounds: { type: 'string' } } })
const files = values.quick ? 2_000 : 50_000
const rounds = Number(values.rounds ?? (values.quick ? 1 : 7))
const root = mkdtempSync(join(os.tmpdir(), 'signalbox-bench-'))
const hasRipgrep = spawnSync('rg', ['--version']).status === 0

try {
  plant()
  const toolSets = {
    'Signalbox, ripgrep': hasRipgrep && createTools({ root }),
    'Signalbox, own search': createTools({ root, ripgrep: false }),
  }
  const globs = {
    'ripgrep alone':
      hasRipgrep && (() => ripgrep(['--files', '--hidden']).filter((name) => name.endsWith('7.ts')).length),
    'tinyglobby alone': async () => (await library('**/*7.ts')).length,
  }
  const greps = {
    'ripgrep alone': hasRipgrep && (() => ripgrep(['--hidden', '-l', 'needle']).length),
    'tinyglobby and a loop': libraryGrep,
  }
  for (const [name, set] of Object.entries(toolSets)) {
    globs[name] = set && (async () => (await call(set, 'Glob', { pattern: '**/*7.ts' })).total)
    greps[name] = set && (async () => (await call(set, 'Grep', { pattern: 'needle' })).totalFiles)
  }
  console.log(`${files} files, ${rounds} rounds, ${os.cpus()[0]?.model.trim()}, Node ${process.versions.node}`)
  await compare('Glob **/*7.ts', globs)
  await compare('Grep needle', greps)
} finally {
  rmSync(root, { recursive: true, force: true })
}

/** Two thirds of the files are searched; the rest is ignored. One file in a hundred contains the needle. */
function plant() {
  writeFileSync(join(root, '.gitignore'), 'ignored/\n')
  for (let index = 0; index < files; index++) {
    const folder = join(root, index % 3 === 0 ? 'ignored' : 'src', `d${index % 97}`, `e${index % 13}`)
    mkdirSync(folder, { recursive: true })
    const line = `export const value${index} = ${index}\n`
    writeFileSync(join(folder, `f${index}.ts`), line.repeat(20) + (index % 100 === 1 ? 'needle\n' : ''))
  }
}

function ripgrep(args) {
  const out = execFileSync('rg', ['--no-config', '--no-require-git', ...args, '.'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 1e9,
  })
  return out.split('\n').filter(Boolean)
}

/** Gets an explicit ignore list, because the library reads no ignore files. */
function library(pattern) {
  return glob(pattern, { cwd: root, dot: true, ignore: ['ignored/**'] })
}

async function libraryGrep() {
  const found = []
  for (const file of await library('**')) if (/needle/.test(readFileSync(join(root, file), 'utf8'))) found.push(file)
  return found.length
}

async function call({ tools }, name, input) {
  const executor = new StreamingToolExecutor(tools, async () => ({ behavior: 'allow' }), {})
  executor.addTool({ type: 'tool_use', id: 'a', name, input }, createAssistantMessage([]))
  for await (const { message } of executor.getRemainingResults())
    if (message.type === 'user') return message.toolUseResult
}

/** Alternates, so that other load affects all of them. */
async function compare(title, ways) {
  const entries = Object.entries(ways).filter(([, way]) => way)
  const times = new Map(entries.map(([name]) => [name, []]))
  const counts = new Set()
  for (let round = 0; round <= rounds; round++) {
    for (const [name, way] of entries) {
      const start = performance.now()
      counts.add(await way())
      // the first round warms up
      if (round > 0) times.get(name).push(performance.now() - start)
    }
  }
  if (counts.size !== 1) throw new Error(`${title}: the results differ: ${[...counts]}`)
  console.log(`\n${title}: ${[...counts][0]} files`)
  for (const [name, each] of times) {
    each.sort((one, other) => one - other)
    const median = each[Math.floor(each.length / 2)]
    console.log(
      `  ${name.padEnd(24)} ${median.toFixed(0).padStart(6)} ms   (${each[0].toFixed(0)} to ${each.at(-1).toFixed(0)})`,
    )
  }
}
