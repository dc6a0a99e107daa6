// A loader hook: the built library tells `signalboxTestRequest` what each query asks its model.
import { appendFileSync } from 'node:fs'
import { tellsRequests } from '../../../scripts/tells-requests.mjs'

let file = ''
export const initialize = (data) => {
  file = data.file
}

export async function load(url, context, next) {
  const loaded = await next(url, context)
  if (loaded.format !== 'module' || !/signalbox|\/dist\/src\/shared\//.test(url)) return loaded
  try {
    const source = tellsRequests(String(loaded.source ?? ''))
    return source === undefined ? loaded : { ...loaded, source }
  } catch (error) {
    appendFileSync(file, `${JSON.stringify({ problem: `${error.message} in ${url}` })}\n`)
    return loaded
  }
}
