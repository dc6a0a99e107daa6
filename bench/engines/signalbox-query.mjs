import { signalboxModel } from '../models/signalbox-model.mjs'
import { queryEngine } from '../signalbox-query.mjs'

export const engine = queryEngine({ title: 'Signalbox query()', packages: [], createModel: signalboxModel })
