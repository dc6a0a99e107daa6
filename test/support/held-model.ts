export { callBlock, heldModel, textBlock } from '../../src/testing/held-model.ts'
