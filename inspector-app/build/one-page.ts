import { createHash } from 'node:crypto'
import type { Plugin } from 'vite'

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** The placeholder for the recording. */
const slot = '<!-- recording -->'

/** Turns one script into one page. The page's CSP allows only that script and no loading. */
export const onePage = (fileName: string): Plugin => ({
  name: 'one-page',
  enforce: 'post',
  generateBundle(_options, bundle) {
    const [chunk, ...more] = Object.values(bundle)
    if (chunk?.type !== 'chunk' || more.length > 0) throw new Error('The build must produce exactly one script.')
    const script = chunk.code.trim()
    // either would end the script element early or keep it open
    if (/<\/script|<!--/i.test(script))
      throw new Error('The script contains "</script" or "<!--" and cannot be inlined.')
    const policy = [
      "default-src 'none'",
      `script-src ${hashOf(script)}`,
      'worker-src blob:',
      'img-src data:',
      "base-uri 'none'",
      "form-action 'none'",
    ].join('; ')
    delete bundle[chunk.fileName]
    this.emitFile({ type: 'asset', fileName, source: pageWith(policy, script) })
  },
})

const pageWith = (policy: string, script: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>Signalbox replay</title>
<link rel="icon" href="data:,">
</head>
<body>
<div id="app"></div>
<noscript>This page shows a Signalbox recording. Enable JavaScript to view it.</noscript>
${slot}
<script type="module">${script}</script>
</body>
</html>
`
