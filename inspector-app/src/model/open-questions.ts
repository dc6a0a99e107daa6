import type { EncodedQuestion } from '../../../src/inspect/index.ts'
import { visibleText } from '../plain-text.ts'
import type { View } from '../store.ts'
import type { Run } from './model.ts'

export interface OpenQuestion {
  readonly run: Run
  readonly asked: EncodedQuestion
}

/** The open questions of every run, agents included. A live page shows those of now, whatever moment it shows. */
export function openQuestions({ state, history, model }: Pick<View, 'state' | 'history' | 'model'>): OpenQuestion[] {
  const { runs } = state.source === 'live' ? history.model : model
  const found: OpenQuestion[] = []
  for (const run of runs.values()) for (const asked of run.questions) found.push({ run, asked })
  return found
}

/** The call that asks. Its name contains text from the model. */
export const questionLabel = ({ run, asked }: OpenQuestion): string =>
  visibleText(run.byId.get(asked.call)?.label ?? asked.name)
