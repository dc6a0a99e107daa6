import { rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import process from 'node:process'
import { build } from 'vite'

// The command line with all that it needs, so that `npx signalbox` works where nothing else is installed. What the
// library itself depends on stays outside, and so does the client of the service, which is the user's to choose.
const root = new URL('..', import.meta.url).pathname
// another folder is for tests: it has to be below this one, where the packages are found
const outDir = resolve(process.argv[2] ?? `${root}dist/cli`)
const external = ['xstate', /^zod/, '@anthropic-ai/sdk']

// turndown works in a thread, which needs a file: from the bundle it is found beside it
const resolving = `createRequire(import.meta.url).resolve('turndown')`
const besideBundle = `fileURLToPath(new URL('./turndown.cjs', import.meta.url))`
const turndownBeside = {
  name: 'turndown-beside',
  enforce: 'pre',
  transform(code, id) {
    if (!id.endsWith('/to-markdown.ts')) return undefined
    if (!code.includes(resolving)) throw new Error('to-markdown.ts finds turndown in another way now')
    return { code: `import { fileURLToPath } from 'node:url'\n${code.replace(resolving, besideBundle)}`, map: null }
  },
}

const bundle = (input, output, more = {}) =>
  build({
    configFile: false,
    root,
    logLevel: 'warn',
    publicDir: false,
    ssr: { noExternal: true, external: [] },
    build: {
      ssr: true,
      outDir,
      emptyOutDir: false,
      target: 'node20',
      minify: false,
      rolldownOptions: { input, external, output, ...more.rolldownOptions },
      ...more.build,
    },
    plugins: more.plugins ?? [],
  })

rmSync(outDir, { recursive: true, force: true })
await bundle(
  { main: `${root}src/cli/main.ts` },
  { format: 'esm', entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
  { plugins: [turndownBeside], build: { license: { fileName: 'LICENSES.md' } } },
)
const turndown = createRequire(import.meta.url).resolve('turndown')
await bundle(
  { turndown },
  { format: 'cjs', entryFileNames: '[name].cjs' },
  { build: { license: { fileName: 'LICENSES-turndown.md' } } },
)
