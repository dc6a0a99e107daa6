import { type Fields, isRecord, isText, listOf } from './flaws.ts'

/** Items whose id is looked up, unless they say everything themselves. */
const lookedUp = new Set<unknown>(['reasoning', 'message', 'function_call', 'custom_tool_call', 'item_reference'])
const endings = new Set<unknown>(['response.completed', 'response.incomplete'])

/**
 * What the Responses API keeps with `store: true`. It keeps the items of a response that has ended, and none of a response
 * that was left or broke off: their ids are not found afterwards.
 */
export class ResponsesStore {
  readonly #unfinished = new Set<unknown>()

  /** Why the service would refuse the request. */
  flaws({ input, store }: Fields): string[] {
    const isKept = store !== false
    const isMissing = (item: Fields): boolean =>
      this.#unfinished.has(item.id) &&
      lookedUp.has(item.type ?? 'message') &&
      (isKept || !isText(item.encrypted_content))
    return listOf(input)
      .filter(isMissing)
      .map(({ id }) => `Item with id '${id}' not found`)
  }

  /** Tells it, event by event, what the service answered. */
  reply(): (event: unknown) => void {
    const ids = new Set<unknown>()
    return (event) => {
      const { type, item } = isRecord(event) ? event : {}
      if (isRecord(item) && item.id !== undefined) {
        ids.add(item.id)
        this.#unfinished.add(item.id)
      }
      if (endings.has(type)) for (const id of ids) this.#unfinished.delete(id)
    }
  }
}
