import type { ComponentChildren } from 'preact'
import type { Profile } from '../model/profile.ts'
import { costWords, duration } from '../words.ts'

/** Totals per phase, tool and model, of the selected part of the time. */
export function Totals({ profile: { phases, tools, models } }: { profile: Profile }) {
  const longest = Math.max(1, ...phases.map(({ ms }) => ms))
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling element must be reachable by keyboard
    <div class="totals" tabIndex={0}>
      <Table title="Phase" heads={['calls', 'time']}>
        {phases.map(({ name, calls, ms }) => (
          <tr key={name}>
            <th scope="row">
              <i class="share" style={{ width: `${(ms / longest) * 100}%` }} />
              {name}
            </th>
            <td>{calls.toLocaleString('en')}</td>
            <td>{duration(ms)}</td>
          </tr>
        ))}
      </Table>
      <Table title="Tool" heads={['calls', 'runs', 'waits', 'errors']}>
        {tools.map(({ name, calls, runs, waits, errors }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>{calls.toLocaleString('en')}</td>
            <td>{duration(runs)}</td>
            <td>{duration(waits)}</td>
            <td>{errors.toLocaleString('en')}</td>
          </tr>
        ))}
      </Table>
      {models.length > 0 && (
        <Table title="Model" heads={['replies', 'input', 'cached', 'output', 'cost']}>
          {models.map(({ name, replies, input, cached, output, costUsd }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{replies.toLocaleString('en')}</td>
              <td>{input.toLocaleString('en')}</td>
              <td>{cached.toLocaleString('en')}</td>
              <td>{output.toLocaleString('en')}</td>
              <td>{costUsd === undefined ? '–' : costWords(costUsd)}</td>
            </tr>
          ))}
        </Table>
      )}
    </div>
  )
}

interface TableProps {
  readonly title: string
  readonly heads: readonly string[]
  readonly children: ComponentChildren
}

function Table({ title, heads, children }: TableProps) {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">{title}</th>
          {heads.map((head) => (
            <th scope="col" key={head}>
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  )
}
