import { queryEngine } from '../engine-parts/signalbox-query.mjs'
import { signalboxModel } from '../models/signalbox-model.mjs'

/** Waits for the whole reply, like most engines. */
export const engine = queryEngine({
  title: 'Signalbox query(), batch',
  packages: [],
  createModel: signalboxModel,
  toolExecution: 'batch',
})
