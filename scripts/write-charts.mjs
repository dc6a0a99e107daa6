import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { runnerImport } from 'vite'

// Draws the charts in README and docs from the machines.
const root = fileURLToPath(new URL('..', import.meta.url))
const { module } = await runnerImport(`${root}scripts/charts-in-docs.ts`, { configFile: false, root })
for (const name of ['README.md', ...readdirSync(`${root}docs`).map((name) => `docs/${name}`)]) {
  if (!name.endsWith('.md')) continue
  const page = readFileSync(root + name, 'utf8')
  const drawn = module.drawCharts(page)
  if (drawn === page) continue
  writeFileSync(root + name, drawn)
  console.log(name)
}
