import type { EngineName } from '../../src/chart-engine/chart-engine.ts'

/** Before each test file: `SIGNALBOX_ENGINE=xstate` runs every chart without an explicit engine on plain XState. */
const name = process.env.SIGNALBOX_ENGINE
if (name !== undefined) {
  const { useEngine } = await import('../../src/chart-engine/choose-engine.ts')
  useEngine(name as EngineName)
}
