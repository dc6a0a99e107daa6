import { leftOut, spread, table, titleOf } from '../table.mjs'

export function latencySection(measured) {
  const rows = measured.latency.map(({ engine, fromBlock, fromStream }) =>
    measured.about[engine].gives.startsEarly
      ? [titleOf(measured, engine), spread(fromBlock), leftOut]
      : [titleOf(measured, engine), 'waits', spread(fromStream)],
  )
  return [
    "### From a block's end to its tool's start",
    'µs from the end of a call’s block in the stream to the entry of its tool; where the engine waits for the whole reply, from the end of the stream',
    table(['', "from the block's end", "from the stream's end"], rows),
  ].join('\n\n')
}
