import { abortsScenarios } from './aborts.ts'
import { backgroundScenarios } from './background.ts'
import { durableCallsScenarios } from './durable-calls.ts'
import { durableQueriesScenarios } from './durable-queries.ts'
import { gateScenarios } from './gate.ts'
import { hooksScenarios } from './hooks.ts'
import { limitsScenarios } from './limits.ts'
import { locksScenarios } from './locks.ts'
import { phasesScenarios } from './phases.ts'
import { queriesScenarios } from './queries.ts'
import { remoteCallsScenarios } from './remote-calls.ts'
import { resourcesScenarios } from './resources.ts'
import { retriesScenarios } from './retries.ts'

/**
 * The rules as a host can observe them. No scenario waits for something that might not come: each one ends by
 * itself, whatever is wrong with the charts.
 */
export const scenarios: Record<string, () => Promise<void>> = {
  ...gateScenarios,
  ...phasesScenarios,
  ...hooksScenarios,
  ...resourcesScenarios,
  ...locksScenarios,
  ...retriesScenarios,
  ...remoteCallsScenarios,
  ...queriesScenarios,
  ...abortsScenarios,
  ...backgroundScenarios,
  ...durableCallsScenarios,
  ...durableQueriesScenarios,
  ...limitsScenarios,
}
