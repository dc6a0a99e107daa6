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
      <NewerFrames newer={newer} include={() => change(() => experiment.takeIn())} />
      {problem !== undefined && (
        <p class="doubt" role="alert">
          {problem}
        </p>
      )}
      {experiment.isSlow && <p class="what">Simulating: {experiment.progress}</p>}
    </>
  )
}

/** Frames that came since, and a way to include them. */
export function NewerFrames({ newer, include }: { newer: number; include: () => void }) {
  if (newer === 0) return null
  return (
    <p class="what">
      {newer === 1 ? 'One newer frame.' : `${newer.toLocaleString('en')} newer frames.`}{' '}
      <button type="button" class="link" onClick={include}>
        {newer === 1 ? 'Include it' : 'Include them'}
      </button>
    </p>
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
