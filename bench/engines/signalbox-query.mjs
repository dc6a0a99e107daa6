import { queryEngine } from '../engine-parts/signalbox-query.mjs'
import { signalboxModel } from '../models/signalbox-model.mjs'

export const engine = queryEngine({ title: 'Signalbox query()', packages: [], createModel: signalboxModel })
