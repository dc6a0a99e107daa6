import type { Fields } from './flaws.ts'
import { promptFlaws } from './prompt-flaws.ts'

interface LanguageModel {
  readonly specificationVersion: string
  // each version has its own options
  doStream(options: never): PromiseLike<unknown>
}

/** The language model, with prompts validated against the types of its version. */
export const checked = <Given extends LanguageModel>(model: Given): Given =>
  new Proxy(model, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target)
      if (key !== 'doStream') return value
      return (options: Fields) => {
        const flaws = promptFlaws(options, target.specificationVersion)
        if (flaws.length > 0) throw new Error(`The language model was given a prompt with flaws: ${flaws.join('; ')}`)
        return target.doStream(options as never)
      }
    },
  })
