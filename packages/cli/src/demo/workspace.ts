import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const price = `/** A price as people read it. */
export function price(cents) {
  const dollars = '$' + Math.floor(cents / 100) + '.'
  return dollars + cents % 100
}
`
const cart = `import { price } from './price.js'

export function total(items) {
  return price(items.reduce((sum, { cents }) => sum + cents, 0))
}
`
const check = (delayMs: number) => `import { price } from './src/price.js'
import { total } from './src/cart.js'

const pause = () => new Promise((resolve) => setTimeout(resolve, ${delayMs}))
let failed = 0
async function expect(what, found, wanted) {
  await pause()
  const isRight = found === wanted
  if (!isRight) failed++
  console.log(isRight ? \`  ok    \${what}\` : \`  FAILS \${what}: \${found}, not \${wanted}\`)
}
console.log('checking the shop')
await expect('a price in dollars', price(1995), '$19.95')
await expect('no dollars at all', price(99), '$0.99')
await expect('a cart', total([{ cents: 1000 }, { cents: 250 }]), '$12.50')
await expect('single cents', price(505), '$5.05')
await expect('nothing', price(0), '$0.00')
console.log(failed === 0 ? 'all checks pass' : \`\${failed} of 5 fail\`)
process.exitCode = failed === 0 ? 0 : 1
`

/** A small project with a bug. */
export function makeWorkspace(root: string, delayMs: number): void {
  mkdirSync(join(root, 'src'), { recursive: true })
  const files = {
    'package.json': `${JSON.stringify({ name: 'shop', private: true, type: 'module' })}\n`,
    'src/price.js': price,
    'src/cart.js': cart,
    'check.js': check(delayMs),
    'README.md': '# Shop\n\nPrices and carts. `node check.js` checks them.\n',
  }
  for (const [path, text] of Object.entries(files)) writeFileSync(join(root, path), text)
}
