export { type HeldRun, type HeldTool, type HeldToolOptions, heldTool } from '../../src/testing/held-tool.ts'
