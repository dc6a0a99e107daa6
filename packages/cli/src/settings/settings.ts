import { permissionModes } from 'signalbox/machines'
import { z } from 'zod'

const rules = z.array(z.string().min(1)).optional()

const hookEntries = z
  .array(
    z.strictObject({
      matcher: z.string().optional(),
      hooks: z.array(
        z.strictObject({
          type: z.literal('command'),
          command: z.string().min(1),
          /** In seconds. */
          timeout: z.number().positive().optional(),
        }),
      ),
      onFailure: z.enum(['continue', 'block']).optional(),
    }),
  )
  .optional()

const price = z.number().nonnegative()

/** The schema of a settings file. */
export const settingsSchema = z.strictObject({
  $schema: z.string().optional(),
  permissions: z
    .strictObject({ defaultMode: z.enum(permissionModes).optional(), allow: rules, ask: rules, deny: rules })
    .optional(),
  hooks: z
    .strictObject({ PreToolUse: hookEntries, PostToolUse: hookEntries, PostToolUseFailure: hookEntries })
    .optional(),
  mcpServers: z.record(z.string(), z.record(z.string(), z.unknown())).optional(),
  model: z.string().min(1).optional(),
  /** Dollars per million tokens, by model name. */
  prices: z
    .record(
      z.string(),
      z.strictObject({ input: price, output: price, cacheRead: price.optional(), cacheWrite: price.optional() }),
    )
    .optional(),
})

export type Settings = z.output<typeof settingsSchema>
