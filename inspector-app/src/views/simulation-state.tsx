import type { ConversationExperiment } from '../model/conversation-experiment.ts'
import type { Experiment } from '../model/experiment.ts'

interface HeadProps {
  readonly experiment: Experiment | ConversationExperiment
  readonly change: (how: () => void) => void
}

/** The state of a simulation: newer frames that it leaves out, a problem, its progress. */
export function SimulationState({ experiment, change }: HeadProps) {
  const { newer, problem } = experiment
  return (
    <>
      {newer > 0 && (
        <p class="what">
          {newer} newer frames.{' '}
          <button type="button" class="link" onClick={() => change(() => experiment.takeIn())}>
            Include them
          </button>
        </p>
      )}
      {problem !== undefined && (
        <p class="doubt" role="alert">
          {problem}
        </p>
      )}
      {experiment.isSlow && <p class="what">Simulating: {experiment.progress}</p>}
    </>
  )
}

/** Shown only if something is changed. */
export function AsRecorded({ experiment, change }: HeadProps) {
  if (!experiment.isChanged) return null
  return (
    <button type="button" class="link" onClick={() => change(() => experiment.undo())}>
      As recorded
    </button>
  )
}
