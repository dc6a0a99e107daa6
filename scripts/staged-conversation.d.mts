import type { defineTool, Query, query } from '../src/index.ts'
import type { InspectorServer } from '../src/inspect/server/index.ts'
import type { scriptedModel } from '../src/query/scripted/index.ts'

interface Library {
  defineTool: typeof defineTool
  query: typeof query
  scriptedModel: typeof scriptedModel
}

export const stagedPrices: Record<string, { input: number; output: number; cacheRead: number }>

export function stagedConversation(
  library: Library,
  server: Pick<InspectorServer, 'add'>,
): Promise<{ run: Query; stop(): Promise<void> }>
