// Short form of `npm run model`: random requests, compared with a model of the API. MODEL_SEED and MODEL_SEQUENCES change the run.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startEmbedded } from '../kit/embedded.js'
import { failureOf, prepare } from './run.js'

const firstSeed = Number(process.env['MODEL_SEED'] ?? 1)
const sequences = Number(process.env['MODEL_SEQUENCES'] ?? 60)

test('random writes, lists and watches match the model', async (t) => {
  const { client, close } = await startEmbedded('memory')
  t.after(close)
  await prepare(client)
  for (let seed = firstSeed; seed < firstSeed + sequences; seed++) assert.equal(await failureOf(client, seed, 20), undefined)
})
