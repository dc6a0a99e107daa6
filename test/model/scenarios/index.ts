import { abortsScenarios } from './aborts.ts'
import { gateScenarios } from './gate.ts'
import { phasesScenarios } from './phases.ts'

/**
 * What a host can see of the rules, without ever waiting for something that might not come: each scenario ends by
 * itself, whatever is wrong with the charts.
 */
export const scenarios: Record<string, () => Promise<void>> = {
  ...gateScenarios,
  ...phasesScenarios,
  ...abortsScenarios,
}
