import type { BlockLike, ContentBlock } from '../../messages/message.ts'
import type { ApiMessage } from '../../messages/to-api-messages.ts'
import { blocksOf, customInput } from '../api-content.ts'
import { isCut } from '../cut-reply.ts'
import { isKeptData, keptData } from '../kept-data.ts'
import { asRecord, asText } from '../read-event.ts'
import { sentName } from '../service-ids.ts'
import { cacheOptions, systemMessages } from './cache-control.ts'
import { heardPart, resultOutput, type SpecificationVersion } from './result-output.ts'

type PromptPart = Record<string, unknown>
type PromptMessage = { role: string; content: string | PromptPart[]; providerOptions?: PromptPart }

export interface PromptOptions {
  readonly version: SpecificationVersion
  /** Names of custom tools: their input is text. */
  readonly customTools: ReadonlySet<string>
  /** Names of all tools that the model is given. */
  readonly names: ReadonlySet<string>
  /** The service stores its replies and accepts their parts by id. It does not store a reply that did not end. */
  readonly isStored?: boolean
}

/** A transcript as a prompt of the AI SDK's language models. */
export function toPrompt(
  messages: readonly ApiMessage[],
  system: string | readonly BlockLike[] | undefined,
  options: PromptOptions,
): PromptMessage[] {
  /** The fields of each call, by id, that its result repeats. A provider may need its metadata there too. */
  const calls = new Map<unknown, PromptPart>()
  const prompt: PromptMessage[] = systemMessages(system)
  for (const message of messages) {
    const blocks = blocksOf(message)
    if (message.role === 'assistant')
      push(
        prompt,
        'assistant',
        blocks.flatMap((block) => said(block, calls, options)),
      )
    else pushHeard(prompt, blocks, calls, options)
  }
  return prompt
}

function push(prompt: PromptMessage[], role: string, content: PromptPart[]): void {
  if (content.length > 0) prompt.push({ role, content })
}

function said(block: ContentBlock, calls: Map<unknown, PromptPart>, options: PromptOptions): PromptPart[] {
  const isLost = options.isStored === true && isCut(block)
  if (isLost && (block.type === 'thinking' || block.type === 'ai_sdk_part')) return []
  const metadata = isLost ? withoutItemIds(keptData('ai_sdk', block)) : keptData('ai_sdk', block)
  const kept = { ...metadata, ...cacheOptions(block) }
  const providerOptions = Object.keys(kept).length > 0 && { providerOptions: kept }
  switch (block.type) {
    case 'text':
      return asText(block.text) === undefined ? [] : [{ type: 'text', text: block.text, ...providerOptions }]
    case 'thinking':
      return reasoning(block)
    case 'redacted_thinking':
      return [{ type: 'reasoning', text: '', providerOptions: { anthropic: { redactedData: block.data } } }]
    case 'tool_use': {
      const toolName = sentName(block.name, options.names)
      const input = options.customTools.has(toolName) ? customInput(block.input) : (block.input ?? {})
      const head = { toolCallId: block.id, toolName }
      calls.set(block.id, { ...head, ...(metadata !== undefined && { providerOptions: metadata }) })
      return [{ type: 'tool-call', ...head, input, ...providerOptions }]
    }
    case 'ai_sdk_part':
      return ownPart(block)
    default:
      return []
  }
}

function withoutItemIds(metadata: PromptPart | undefined): PromptPart | undefined {
  const entries = Object.entries(metadata ?? {}).flatMap(([provider, fields]) => {
    const { itemId, ...rest } = asRecord(fields) ?? {}
    return Object.keys(rest).length > 0 ? [[provider, rest] as const] : []
  })
  return entries.length > 0 ? Object.fromEntries(entries) : undefined
}

/** Only reasoning of this adapter, or with a real signature: some services reject other reasoning, and none needs it. */
function reasoning(block: ContentBlock): PromptPart[] {
  const text = asText(block.thinking) ?? ''
  const metadata = keptData('ai_sdk', block)
  if (metadata !== undefined) {
    return [{ type: 'reasoning', text, ...(Object.keys(metadata).length > 0 && { providerOptions: metadata }) }]
  }
  const signature = isKeptData(block.signature) ? undefined : asText(block.signature)
  return signature === undefined ? [] : [{ type: 'reasoning', text, providerOptions: { anthropic: { signature } } }]
}

/** A request for approval is not part of a prompt; its answer refers to it. */
function ownPart(block: ContentBlock): PromptPart[] {
  const part = asRecord(block.part)
  return part === undefined || part.type === 'tool-approval-request' ? [] : [withoutGaps(part)]
}

const withoutGaps = (part: PromptPart): PromptPart =>
  Object.fromEntries(Object.entries(part).filter(([, value]) => value !== undefined))

function pushHeard(
  prompt: PromptMessage[],
  blocks: readonly ContentBlock[],
  calls: ReadonlyMap<unknown, PromptPart>,
  { version }: PromptOptions,
): void {
  const answers = blocks.flatMap((block) => (block.type === 'ai_sdk_part' ? ownPart(block) : []))
  const results = blocks.filter(({ type }) => type === 'tool_result')
  push(prompt, 'tool', [...answers, ...results.map((block) => result(block, calls.get(block.tool_use_id), version))])
  push(
    prompt,
    'user',
    blocks
      .filter(({ type }) => type !== 'tool_result' && type !== 'ai_sdk_part')
      .flatMap((block) => heardPart(block, version)),
  )
}

function result(block: ContentBlock, call: PromptPart | undefined, version: SpecificationVersion): PromptPart {
  const kept = { ...asRecord(call?.providerOptions), ...cacheOptions(block) }
  return {
    type: 'tool-result',
    toolCallId: block.tool_use_id,
    toolName: call?.toolName ?? 'unknown',
    output: resultOutput(block, version),
    ...(Object.keys(kept).length > 0 && { providerOptions: kept }),
  }
}
