import { field } from '../../engine-list.mjs'
import { table } from '../table.mjs'

/** What each engine does, as verified. */
export function givesSection({ about }) {
  const rows = field
    .filter((name) => about[name])
    .map((name) => {
      const { title, versions, scope, gives } = about[name]
      return [
        title,
        versions.join(', '),
        scope === 'tools' ? 'calls to results' : "a model's reply too",
        gives.order === 'calls' ? 'of the calls' : 'of completion',
        gives.isExclusive ? 'run alone' : 'run beside others',
        gives.startsEarly ? 'during the stream' : 'after it',
        gives.sideBySide === null ? 'all' : `${gives.sideBySide}`,
        gives.validates ? 'itself' : 'its host',
      ]
    })
  const head = ['engine', 'version', 'does', 'order', 'unsafe calls', 'starts', 'side by side', 'input checked by']
  return ['### What each of them does', table(head, rows, head.length)].join('\n\n')
}
