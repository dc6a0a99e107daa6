// Puts one deliberate fault at a time into a copy of the build, and runs exploration and simulation to find it.
//   node scripts/mutants/run.mjs                all faults; writes the table into docs/mutants.md
//   node scripts/mutants/run.mjs --few 5        five faults, different ones every day
//   node scripts/mutants/run.mjs --only 'cursor|queue'  faults whose name or file matches this pattern
import { execFile, execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { mutants } from './mutants.mjs'

const here = resolve(import.meta.dirname, '../..')
/** Where the table of this script begins in docs/mutants.md; it goes on to the end of the page. */
const start = '## Faults written by hand'
const flagged = (flag) => {
  const at = process.argv.indexOf(flag)
  return at < 0 ? undefined : process.argv[at + 1]
}

function chosen() {
  const only = flagged('--only')
  if (only !== undefined) return placed.filter(({ file, fault }) => new RegExp(only).test(`${file} ${fault}`))
  const few = Number(flagged('--few') ?? 0)
  if (few === 0) return placed
  const day = Math.floor(Date.now() / 86_400_000)
  return Array.from({ length: few }, (_, n) => placed[(day * few + n) % placed.length])
}

/** The only file below the folder that contains the line to change. */
function place({ room, fault, changes }, files) {
  const found = [...files].filter(([file, text]) => file.startsWith(room) && text.split(changes[0]).length === 2)
  if (found.length !== 1)
    throw new Error(`${fault}: expected this code in one file of ${room}, found it in ${found.length}: ${changes[0]}`)
  return { file: found[0][0], fault, changes }
}

function mutate(text, changes, name) {
  let mutated = text
  for (let at = 0; at < changes.length; at += 2) {
    const pieces = mutated.split(changes[at])
    if (pieces.length !== 2)
      throw new Error(`${name}: expected this code once, found it ${pieces.length - 1} times: ${changes[at]}`)
    mutated = pieces.join(changes[at + 1])
  }
  return mutated
}

async function hunt({ file, fault, changes, steps = [] }) {
  const root = mkdtempSync(join(tmpdir(), 'signalbox-mutant-'))
  try {
    for (const part of ['src', 'machines']) cpSync(join(build, part), join(root, part), { recursive: true })
    symlinkSync(join(here, 'node_modules'), join(root, 'node_modules'))
    writeFileSync(join(root, 'package.json'), '{"type":"module"}')
    const path = join(root, file)
    writeFileSync(path, mutate(readFileSync(path, 'utf8'), changes, fault))
    const hunter = join(here, 'scripts/mutants/hunt.mjs')
    const options = { timeout: 180_000, killSignal: 'SIGKILL' }
    const { stdout } = await promisify(execFile)(process.execPath, [hunter, root, file, ...steps], options)
    return JSON.parse(stdout)
  } catch (error) {
    if (error.killed === true) return { by: 'exploration', what: 'does not end' }
    throw new Error(`${fault}: ${error.code === 2 ? 'the changed code does not parse' : error.message}`)
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

// a separate build, so that other builds are not affected
const build = mkdtempSync(join(tmpdir(), 'signalbox-mutants-'))
process.on('exit', () => rmSync(build, { recursive: true, force: true }))
execFileSync('npx', ['tsc', '-p', 'tsconfig.build.json', '--outDir', build], { cwd: here, stdio: 'inherit' })
const files = new Map(
  readdirSync(build, { recursive: true })
    .filter((name) => name.endsWith('.js'))
    .map((name) => [name, readFileSync(join(build, name), 'utf8')]),
)
// place all faults, not only today's, so that a fault that no longer matches the code fails at once
const placed = mutants.map((mutant) => place(mutant, files))
for (const { file, fault, changes } of placed) mutate(files.get(file), changes, fault)

/** The same search on the unchanged build must find nothing. */
async function control(file, steps) {
  const seen = await hunt({ file, fault: 'none', changes: [], steps })
  if (seen.by !== 'nothing') throw new Error(`Found a fault in the unchanged build: ${JSON.stringify(seen)}`)
}
const isFew = flagged('--few') !== undefined
if (!isFew) await control('src/testing/index.js')

const results = []
/** How far the searches in each order went. */
const furthest = new Map()
for (const mutant of chosen()) {
  const { by, what = '', step = Infinity, order = mutant.file } = await hunt(mutant)
  if (by !== 'nothing' && !(furthest.get(order)?.step >= step)) furthest.set(order, { file: mutant.file, step })
  results.push({ ...mutant, by, what })
  console.log(`${by === 'nothing' ? 'MISSED' : 'found '} ${mutant.file}: ${mutant.fault} → ${by} ${what}`)
}
// a few faults are usually found early, and the whole search takes longer than all of theirs
if (isFew) for (const { file, step } of furthest.values()) await control(file, [String(step)])
const missed = results.filter(({ by }) => by === 'nothing')
console.log(`${results.length - missed.length} of ${results.length} were found`)
if (results.length === mutants.length) {
  const rows = results.map(
    ({ file, fault, by, what }) => `| \`${file.replace('.js', '.ts')}\` | ${fault} | ${by} | ${what} |`,
  )
  const head = `${start}\n\n\`npm run mutants\` puts each of these faults into a copy of the build, one at a time, and runs exploration and simulation to find it. ${results.length - missed.length} of ${results.length} were found when this table was written. Without a fault, nothing was found. The set was written together with the test kit: of the first version, 51 of the 60 faults that parsed were found, and the checks and moves for the other nine were added later. So the table shows that these faults are found; it does not estimate the share of all possible faults. The three faults on \`explain\` came with the check of its answers, after two of them had not been found. The last ones, on the query and the context, came with the exploration of queries.\n\n| where | what goes wrong | found by | what does not hold |\n|---|---|---|---|\n`
  const page = readFileSync(join(here, 'docs/mutants.md'), 'utf8')
  const others = page.slice(0, page.indexOf(start))
  writeFileSync(join(here, 'docs/mutants.md'), `${others}${head}${rows.join('\n')}\n`)
}
process.exitCode = missed.length > 0 ? 1 : 0
