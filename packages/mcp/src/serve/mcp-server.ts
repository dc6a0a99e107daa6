import type { CallToolResult, InputRequiredResult, Server, ServerContext } from '@modelcontextprotocol/server'
import { describeValue } from 'signalbox'
import { isRecord, readField } from '../plain-values.ts'
import type { CallDispatcher } from './call-dispatcher.ts'
import type { ServedCall } from './served-call.ts'
import { describeTools, toMcpResult } from './to-mcp.ts'

export type ServerSdk = typeof import('@modelcontextprotocol/server')

export interface ServerInfo {
  readonly name: string
  readonly version: string
  readonly instructions?: string | undefined
}

const maxProgress = 10_000
const maxProgressChars = 2_000

export const loadServerSdk = (): Promise<ServerSdk> => import('@modelcontextprotocol/server')

/** The server side of one connection; all connections share the dispatcher. */
export function mcpServer(
  sdk: ServerSdk,
  dispatcher: CallDispatcher,
  { name, version, instructions }: ServerInfo,
): Server {
  const server = new sdk.Server(
    { name, version },
    { capabilities: { tools: {} }, ...(instructions !== undefined && { instructions }) },
  )
  const tools = describeTools(dispatcher.tools)
  server.setRequestHandler('tools/list', () => ({ tools }))
  server.setRequestHandler('tools/call', ({ params }, context) => serve(sdk, server, dispatcher, params, context))
  return server
}

async function serve(
  sdk: ServerSdk,
  server: Server,
  dispatcher: CallDispatcher,
  params: { name: string; arguments?: Record<string, unknown> | undefined },
  context: ServerContext,
): Promise<CallToolResult | InputRequiredResult> {
  const { signal } = context.mcpReq
  const call = resumed(sdk, dispatcher, context) ?? dispatcher.start(params.name, params.arguments ?? {}, undefined)
  if (typeof call === 'string') return { content: [{ type: 'text', text: call }], isError: true }
  call.onProgress = progressFor(context)
  const stop = (): void => call.stop('cancelled')
  if (signal.aborted) stop()
  signal.addEventListener('abort', stop, { once: true })
  try {
    for (;;) {
      const news = await call.news()
      if (news.type === 'result') return toMcpResult(news.block)
      if (canAsk(sdk, server, context)) return question(sdk, call, news.question.message)
      call.answer({
        behavior: 'deny',
        message:
          'This call needs approval, and this client cannot ask for it (it does not support elicitation). The call did not run.',
      })
    }
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/** Clients declare their capabilities when they connect, or (newer ones) with each request. */
function canAsk(sdk: ServerSdk, server: Server, { mcpReq }: ServerContext): boolean {
  const said = readField(mcpReq.envelope, sdk.CLIENT_CAPABILITIES_META_KEY) ?? server.getClientCapabilities()
  return readField(said, 'elicitation') !== undefined
}

/** The prompt is returned as the response; the client repeats the request with the user's answer. */
function question(sdk: ServerSdk, call: ServedCall, message: string): InputRequiredResult {
  const requestedSchema = {
    type: 'object' as const,
    properties: { allow: { type: 'boolean' as const, title: 'Allow it', description: 'Whether the call may run' } },
    required: ['allow'],
  }
  return sdk.inputRequired({
    inputRequests: { permission: sdk.inputRequired.elicit({ mode: 'form', message, requestedSchema }) },
    // unguessable, so that no other client can answer
    requestState: call.id,
  })
}

/** The call that a prompt belongs to, with the answer; a text if the call no longer exists. */
function resumed(
  sdk: ServerSdk,
  dispatcher: CallDispatcher,
  { mcpReq }: ServerContext,
): ServedCall | string | undefined {
  const state = mcpReq.requestState()
  if (typeof state !== 'string') return undefined
  const call = dispatcher.find(state)
  if (call === undefined) return 'This question has expired. Make the call again.'
  const response = sdk.inputResponse(mcpReq.inputResponses, 'permission')
  const isAllowed = response.kind === 'elicit' && response.action === 'accept' && response.content?.allow === true
  call.answer(
    isAllowed ? { behavior: 'allow' } : { behavior: 'deny', message: 'The user denied this call. It did not run.' },
  )
  return call
}

/** A client that wants progress passes a token for it. */
function progressFor({ mcpReq }: ServerContext): ServedCall['onProgress'] {
  const progressToken = mcpReq._meta?.progressToken
  if (progressToken === undefined) return undefined
  let count = 0
  return (data) => {
    if (++count > maxProgress || mcpReq.signal.aborted) return
    const params = { progressToken, progress: count, ...wordsOf(data) }
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined)
  }
}

function wordsOf(data: unknown): { message?: string; total?: number } {
  const { text, message = text, total } = isRecord(data) ? data : {}
  const words = typeof message === 'string' ? message : describeValue(data, maxProgressChars)
  return { message: words.slice(0, maxProgressChars), ...(typeof total === 'number' && { total }) }
}
