import { figure, table } from '../table.mjs'

export function bundleSection({ bundles }) {
  const kilobytes = ({ minified, gzip }) => `${figure(gzip / 1_000)} (${figure(minified / 1_000)})`
  const rows = bundles.map(({ title: name, outside, inside }) => [name, kilobytes(outside), kilobytes(inside)])
  return [
    '### Bundle',
    'KB after minifying and gzip (before gzip)',
    table(['', 'xstate and zod outside', 'inside'], rows),
  ].join('\n\n')
}
