import type { Told } from '../src/story/narrator.ts'
import { useStory } from '../src/story/use-story.ts'

const most = 60

/** The story of the run, each sentence with its rule: newest first; simultaneous entries in their order. */
export function Narration() {
  const { told } = useStory()
  const shown = told.slice(-most)
  return (
    <section class="narration">
      <h2 id="narration">What happened and why</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled with the keyboard */}
      <ol aria-labelledby="narration" aria-live="polite" tabIndex={0}>
        {shown.length === 0 && <li class="none">Nothing yet.</li>}
        {togetherOf(shown)
          .reverse()
          .flat()
          .map(({ at, text, rule }) => (
            <li key={`${at} ${text}`}>
              <time>{(at / 1_000).toFixed(1)}</time>
              <span>{text}</span>
              {rule !== undefined && <abbr title={`Rule ${rule} of the contract`}>{rule}</abbr>}
            </li>
          ))}
      </ol>
    </section>
  )
}

function togetherOf(told: readonly Told[]): Told[][] {
  const groups: Told[][] = []
  for (const each of told) {
    const last = groups.at(-1)
    if (last?.[0]?.at === each.at) last.push(each)
    else groups.push([each])
  }
  return groups
}
