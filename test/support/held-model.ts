export { callBlock, type HeldModel, heldModel, textBlock } from '../../src/testing/held-model.ts'
