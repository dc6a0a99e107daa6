import { figure, table } from '../table.mjs'

export function bundleSection({ bundles }) {
  const kilobytes = ({ minified, gzip }) => `${figure(gzip / 1_024)} (${figure(minified / 1_024)})`
  const rows = bundles.map(({ title: name, outside, inside }) => [name, kilobytes(outside), kilobytes(inside)])
  return [
    '### Bundle',
    'KB of 1,024 bytes after minifying and gzip (before gzip)',
    table(['', 'xstate and zod outside', 'inside'], rows),
  ].join('\n\n')
}
