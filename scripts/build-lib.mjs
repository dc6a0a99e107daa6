import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import process from 'node:process'
import { build } from 'vite'

// One file for each subpath and for what they share: loading takes as long as there are files, whatever is in them.
// What is shared stays shared, so that an error or an actor of one subpath is known to the others.
const root = new URL('..', import.meta.url).pathname
process.chdir(root)
const outDir = resolve(process.argv[2] ?? `${root}dist`)
const read = (path) => readFileSync(path, 'utf8')
const filesBelow = (folder) => readdirSync(folder, { recursive: true }).map((name) => join(folder, name))

const subpaths = Object.values(JSON.parse(read('package.json')).exports).flatMap(
  ({ default: file }) => file?.match(/^\.\/dist\/((?:src|machines)\/.*)\.js$/)?.[1] ?? [],
)
// the page that hosts mount is built apart, and takes these from the library that it stands in
const takenByPage = filesBelow('inspector-app/src')
  .filter((name) => /\.tsx?$/.test(name))
  .flatMap((name) => [...read(name).matchAll(/^import (?!type )[^']*'(?:\.\.\/)+((?:src|machines)\/[^']*)\.ts'/gm)])
  .map(([, name]) => name)

// the compiler wrote a file for each of ours: of those only the types are shipped
for (const name of ['src', 'machines'].flatMap((folder) => filesBelow(join(outDir, folder)))) {
  if (name.endsWith('.js')) rmSync(name)
}

// what many subpaths take a little of is one file, not many small ones
const groups = [
  { name: 'ground', test: /\/src\/((text|errors|messages|results|model)\/|tool\/describe-call|pipeline\/clock)/ },
  { name: 'charts', test: /\/machines\/(?!public)/ },
  { name: 'core', test: /\/src\/(index\.ts|(permission|hooks|tool|pipeline|executor|batch|query)\/)/ },
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
      output: {
        format: 'esm',
        entryFileNames: '[name].js',
        // as deep as the rooms are, so that what is found beside the library is found from here as well
        chunkFileNames: 'src/shared/[name].js',
        codeSplitting: { groups },
      },
    },
  },
})
