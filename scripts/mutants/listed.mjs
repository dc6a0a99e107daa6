// Puts one deliberate fault of a list at a time into a source, and runs the test file that must find it.
//   node scripts/mutants/listed.mjs journal                       all faults of the list; writes its table into docs/mutants.md
//   node scripts/mutants/listed.mjs scheduling --only 'keys|limit'   faults whose name or room matches this pattern
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { journalFaults } from './journal-faults.mjs'
import { TestRun } from './random/test-run.mjs'
import { schedulingFaults } from './scheduling-faults.mjs'

const root = resolve(import.meta.dirname, '../..')
const lists = {
  journal: {
    faults: journalFaults,
    what: 'sessions and journals',
    next: '## Faults in keys, background calls and limits\n',
  },
  scheduling: {
    faults: schedulingFaults,
    what: 'keys, background calls and limits',
    next: '## Faults written by hand\n',
  },
}
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { only: { type: 'string', default: '' } },
})
const name = positionals[0] ?? ''
const list = lists[name]
if (list === undefined) throw new Error(`Unknown list ${name}. Known lists: ${Object.keys(lists).join(', ')}`)
const wanted = new RegExp(values.only)

/** The only file of the room that has this code once. */
function place([room, fault, from, to, test]) {
  const files = readdirSync(join(root, room), { recursive: true }).filter((name) => name.endsWith('.ts'))
  const found = files.flatMap((name) => {
    const file = join(room, name)
    const pieces = readFileSync(join(root, file), 'utf8').split(from)
    return pieces.length === 1 ? [] : [{ file, pieces }]
  })
  if (found.length !== 1 || found[0].pieces.length !== 2)
    throw new Error(`${fault}: expected this code once in ${room}: ${from}`)
  const [{ file, pieces }] = found
  return { room, fault, file, source: pieces.join(to), test }
}

// place all faults, not only the chosen ones, so that a fault that no longer matches the code fails at once
const chosen = list.faults.map(place).filter(({ room, fault }) => wanted.test(`${room} ${fault}`))
const run = await TestRun.start(root)
// without a fault, the tests must pass
await run.timesOf([...new Set(chosen.map(({ test }) => test))])
const rows = []
for (const { fault, file, source, test } of chosen) {
  const failure = await run.firstFailure([test], { file, source })
  console.log(`${failure === undefined ? 'MISSED' : 'found '} ${file}: ${fault} → ${failure?.test ?? ''}`)
  if (failure !== undefined) rows.push(`| \`${file}\` | ${fault} | \`${test}\` |`)
}
await run.close()
console.log(`${rows.length} of ${chosen.length} were found`)
if (chosen.length === list.faults.length && rows.length === chosen.length) {
  const [start, end] = [`## Faults in ${list.what}\n`, list.next]
  const path = join(root, 'docs/mutants.md')
  const page = readFileSync(path, 'utf8')
  const [before, after] = [page.slice(0, page.indexOf(start)), page.slice(page.indexOf(end))]
  const text = `\`npm run mutants:${name}\` puts each of these faults into a source in memory, one at a time, and runs the test file that must find it. ${rows.length} of ${rows.length} faults in ${list.what} were found when this table was written. Without a fault, all of these files pass.`
  const table = ['| where | what goes wrong | found by |', '|---|---|---|', ...rows].join('\n')
  writeFileSync(path, `${before}${start}\n${text}\n\n${table}\n\n${after}`)
}
process.exitCode = rows.length === chosen.length ? 0 : 1
