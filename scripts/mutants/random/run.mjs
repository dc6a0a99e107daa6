// Makes random small changes to the sources, one at a time, and runs the tests to find out whether one fails.
//   node scripts/mutants/random/run.mjs                          every room
//   node scripts/mutants/random/run.mjs --room src/query         one room
//   node scripts/mutants/random/run.mjs --only delivery.ts       files whose path contains this
//   --sample 50  --seed 1  --deep (random campaigns too)  --again before.json (only what survived there)  --out after.json
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { equivalents } from './equivalent.mjs'
import { mutationsOf } from './operators.mjs'
import { rooms, slowUnits } from './rooms.mjs'
import { sample } from './sample.mjs'
import { TestRun } from './test-run.mjs'

const root = resolve(import.meta.dirname, '../../..')
const { values } = parseArgs({
  options: {
    room: { type: 'string', multiple: true, default: Object.keys(rooms) },
    only: { type: 'string', default: '' },
    sample: { type: 'string', default: '50' },
    seed: { type: 'string', default: '1' },
    deep: { type: 'boolean', default: false },
    again: { type: 'string' },
    out: { type: 'string' },
  },
})

/** The files with this ending at or below a path, relative to the root. */
function filesAt(path, ending) {
  if (statSync(resolve(root, path)).isFile()) return [path]
  return readdirSync(resolve(root, path), { withFileTypes: true })
    .flatMap(({ name }) => (name.includes('.') ? [`${path}/${name}`] : filesAt(`${path}/${name}`, ending)))
    .filter((name) => name.endsWith(ending))
    .sort()
}

const testsAt = (paths) => [...new Set(paths.flatMap((path) => filesAt(path, '.test.ts')))]

const keyOf = ({ file, within, name }) => `${file} | ${within} | ${name}`
const reasons = new Map(equivalents.map(([file, within, name, why]) => [keyOf({ file, within, name }), why]))

function mutantsOf(room) {
  const files = filesAt(room, '.ts').filter((file) => file.includes(values.only))
  const all = files.flatMap((file) => mutationsOf(file, readFileSync(resolve(root, file), 'utf8')))
  if (values.again === undefined) return sample(all, Number(values.sample), Number(values.seed))
  const before = JSON.parse(readFileSync(values.again, 'utf8'))
  const survived = new Set(before.filter(({ by }) => by === undefined).map(keyOf))
  return all.filter((each) => survived.has(keyOf(each)))
}

/** Files that have found something before are asked first, then the quick ones. */
class Tests {
  #finds = new Map()
  #runs = 0

  constructor(run, { units, campaigns }) {
    this.run = run
    const all = testsAt([...units, ...(values.deep ? campaigns : [])])
    this.units = testsAt(units).filter((file) => !slowUnits.test(file))
    this.campaigns = values.deep ? all.filter((file) => !this.units.includes(file)) : []
  }

  async prove() {
    this.times = await this.run.timesOf(this.units)
  }

  async firstFailure(mutated) {
    this.#runs++
    const found =
      (await this.run.firstFailure(this.#inOrder(this.units), mutated)) ??
      (values.deep ? await this.#firstCampaign(mutated) : undefined)
    if (found !== undefined) this.#finds.set(found.file, (this.#finds.get(found.file) ?? 0) + 1)
    return found
  }

  /** Campaigns take long, so one is run without a mutant only when it has found something. */
  async #firstCampaign(mutated) {
    const found = await this.run.firstFailure(this.campaigns, mutated)
    if (found !== undefined && found.file !== '' && !this.times.has(found.file)) {
      for (const [file, time] of await this.run.timesOf([found.file])) this.times.set(file, time)
    }
    return found
  }

  /** By the time that it takes to find something with it, as far as is known. */
  #inOrder(files) {
    const cost = (file) => this.times.get(file) / ((this.#finds.get(file) ?? 0) + 0.5 / this.#runs)
    return files.toSorted((a, b) => cost(a) - cost(b))
  }
}

const run = await TestRun.start(root)
const results = []
for (const room of values.room) {
  const tests = new Tests(run, rooms[room])
  await tests.prove()
  for (const mutant of mutantsOf(room)) {
    const why = reasons.get(keyOf(mutant))
    const source = readFileSync(resolve(root, mutant.file), 'utf8')
    const changed = source.slice(0, mutant.start) + mutant.text + source.slice(mutant.end)
    const found = why === undefined ? await tests.firstFailure({ file: mutant.file, source: changed }) : undefined
    const verdict = why !== undefined ? 'equivalent' : found === undefined ? 'SURVIVED' : 'killed'
    results.push({ room, ...mutant, verdict, by: found && `${found.file}: ${found.test}`, why })
    console.log(`${verdict} ${mutant.file}:${mutant.line} ${mutant.name}${found ? `  (${found.file})` : ''}`)
    if (verdict === 'SURVIVED') console.log(`    ${mutant.within}`)
    if (values.out !== undefined) writeFileSync(values.out, `${JSON.stringify(results, undefined, 2)}\n`)
  }
  const count = (verdict) => results.filter((each) => each.room === room && each.verdict === verdict).length
  const [killed, survived, equivalent] = ['killed', 'SURVIVED', 'equivalent'].map(count)
  const score = ((100 * killed) / Math.max(1, killed + survived)).toFixed(1)
  console.log(`${room}: ${killed} killed, ${survived} survived, ${equivalent} equivalent: ${score} %`)
}
await run.close()
process.exit(results.some(({ verdict }) => verdict === 'SURVIVED') ? 1 : 0)
