// Many who work for one loop at a time are no leak, and the platform does not say so.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newEnding } from './ending.js'

test('a hundred listeners of an end are told of it, and nobody is warned of them', async () => {
  const warnings: string[] = []
  const note = ({ name }: Error): void => void warnings.push(name)
  process.on('warning', note)
  const ending = newEnding()
  let told = 0
  for (let i = 0; i < 100; i++) ending.signal.addEventListener('abort', () => told++, { once: true })
  ending.abort()
  // Warnings come in a turn of their own.
  await new Promise((resolve) => setImmediate(resolve))
  process.off('warning', note)
  assert.deepEqual([told, warnings], [100, []])
})
