import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import process from 'node:process'
import { build } from 'vite'

// Builds one file per subpath, plus shared chunks: load time depends on the number of files, not on their size.
// Shared code stays shared, so that an error or actor of one subpath is recognised by the others.
const root = new URL('..', import.meta.url).pathname
process.chdir(root)
const outDir = resolve(process.argv[2] ?? `${root}dist`)
const read = (path) => readFileSync(path, 'utf8')
const filesBelow = (folder) => readdirSync(folder, { recursive: true }).map((name) => join(folder, name))

const subpaths = Object.values(JSON.parse(read('package.json')).exports).flatMap(
  ({ default: file }) => file?.match(/^\.\/dist\/((?:src|machines)\/.*)\.js$/)?.[1] ?? [],
)
// the embedded page is built separately and imports these files from the library
const takenByPage = filesBelow('inspector-app/src')
  .filter((name) => /\.tsx?$/.test(name))
  .flatMap((name) => [...read(name).matchAll(/^import (?!type )[^']*'(?:\.\.\/)+((?:src|machines)\/[^']*)\.ts'/gm)])
  .map(([, name]) => name)

// of the compiler's output, only the types are shipped
for (const name of ['src', 'machines'].flatMap((folder) => filesBelow(join(outDir, folder)))) {
  if (name.endsWith('.js')) rmSync(name)
}

// group small shared modules into one file
const groups = [
  { name: 'base', test: /\/src\/((base|messages|results)\/|models\/[^/]*$|tool\/describe-call)/ },
  { name: 'charts', test: /\/(machines|src\/chart-engine)\// },
  { name: 'core', test: /\/src\/(index\.ts|(permission|hooks|tool|pipeline|executor)\/|query\/[^/]*$)/ },
]

await build({
  configFile: false,
  root,
  logLevel: 'warn',
  publicDir: false,
  build: {
    ssr: true,
    outDir,
    emptyOutDir: false,
    target: 'node20',
    minify: false,
    rolldownOptions: {
      input: Object.fromEntries([...subpaths, ...takenByPage].map((name) => [name, `${root}${name}.ts`])),
      external: /^[^./]/,
      // a shared chunk must not add exports of its own to an entry
      preserveEntrySignatures: 'strict',
      output: {
        format: 'esm',
        entryFileNames: '[name].js',
        // the same depth as the subpaths, so that relative paths beside the library resolve from here too
        chunkFileNames: 'src/shared/[name].js',
        codeSplitting: { groups },
      },
    },
  },
})
