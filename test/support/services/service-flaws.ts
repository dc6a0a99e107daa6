import { anthropicRequestFlaws } from '../validate-anthropic-request.ts'
import { chatFlaws, mistralFlaws, openrouterFlaws } from './chat-flaws.ts'
import type { Fields } from './flaws.ts'
import { responsesFlaws } from './responses-flaws.ts'

/** By the end of the path. */
const services: readonly [string, (body: Fields) => string[]][] = [
  ['/mistral/chat/completions', mistralFlaws],
  ['/openrouter/chat/completions', openrouterFlaws],
  ['/chat/completions', (body) => chatFlaws(body)],
  ['/responses', responsesFlaws],
  ['/messages', anthropicRequestFlaws],
]

/** Why the service at this path would reject the request. */
export const serviceFlaws = (path: string, body: Fields): string[] =>
  services.find(([end]) => path.endsWith(end))?.[1](body) ?? []
