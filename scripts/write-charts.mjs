import { writeFileSync } from 'node:fs'
import { chartsPage } from '../dist/src/testing/charts-page.js'

writeFileSync(new URL('../docs/charts.md', import.meta.url), chartsPage())
