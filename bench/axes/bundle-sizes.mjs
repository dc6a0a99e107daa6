import { bundleSize, bundles } from '../bundle.mjs'

export async function measureBundles(tell) {
  const rows = []
  for (const [title, names] of Object.entries(bundles)) {
    const outside = await bundleSize(names, { isInside: false })
    const inside = await bundleSize(names, { isInside: true })
    rows.push({ title, outside, inside })
  }
  tell('bundles measured')
  return rows
}
