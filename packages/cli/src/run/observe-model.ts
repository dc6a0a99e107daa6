import type { Model, ModelEvent } from 'signalbox'

/** The same model, with an observer that gets each event just before the query does. */
export function observeModel(model: Model, hear: (event: ModelEvent) => void): Model {
  const observed: Model = async (request) => {
    const events = await model(request)
    return {
      [Symbol.asyncIterator]() {
        const inner = events[Symbol.asyncIterator]()
        return {
          async next() {
            const step = await inner.next()
            if (step.done !== true) hear(step.value as ModelEvent)
            return step
          },
          return: async (value?: unknown) => (await inner.return?.(value)) ?? { done: true, value },
        }
      },
    }
  }
  return Object.assign(observed, { info: model.info })
}
