import assert from 'node:assert/strict'
import { everyEngine, field, isTimed, reporting, streamed, weighed } from '../engine-list.mjs'

/** Checks that every figure exists for every loaded engine; does not judge the figures. */
export function assertComplete(measured, { sizes, memory, overlap }) {
  const { about, leftOut, cells, bundles } = measured
  const isHere = (name) => !leftOut.some(({ engine }) => engine === name)
  assert.deepEqual(Object.keys(about), everyEngine.filter(isHere), 'every engine ran')
  for (const name of everyEngine.filter(isHere).filter(isTimed)) {
    const own = cells.filter(({ engine }) => engine === name)
    for (const size of sizes)
      assert.ok(
        own.some((cell) => cell.size === size && cell.mix === 'safe'),
        `${name}, ${size}`,
      )
    for (const cell of own) assert.ok(cell.tooSlow || cell.median > 0, `a time of ${name} at ${cell.size}`)
  }
  has('memory', weighed, (row) => Number.isFinite(row.retained) && Number.isFinite(row.sizes[memory.sizes[0]].live))
  has('latency', streamed, ({ fromBlock }) => Number.isFinite(fromBlock.median))
  has('progress', reporting, ({ median }) => median > 0)
  has('startUp', field, ({ imported, firstTurn }) => imported.median > 0 && firstTurn.median > 0)
  assert.ok(Number.isFinite(measured.longQuery.late.median), 'a long query')
  const turns = streamed.filter(isHere).length * overlap.scenarios.length
  assert.equal(measured.overlap.length, turns, 'every turn in real time')
  assert.ok(bundles.every(({ outside, inside }) => inside.gzip > outside.gzip && outside.gzip > 0))

  function has(axis, names, isComplete) {
    for (const name of names.filter(isHere)) {
      const row = measured[axis].find(({ engine }) => engine === name)
      assert.ok(row !== undefined && isComplete(row), `${axis} of ${name}`)
    }
  }
}
