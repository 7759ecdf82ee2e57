// Which steps the mirror takes in when answers and deletions come in any order, and when it is said that one is missing.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Mirror, MirroredStep } from '../mirror.js'
import { OwnSteps, type Step } from './own-steps.js'

function subject() {
  const taken: string[] = []
  const state = { isWriting: false, missing: 0 }
  const mirror = {
    position: 10,
    apply({ writes, position }: MirroredStep) {
      assert.equal(position, mirror.position + 1, 'no step is left out')
      taken.push(`${position}: ${writes.map(({ key }) => key).join()}`)
      mirror.position = position
    },
  }
  const steps = new OwnSteps({
    mirror: mirror as unknown as Mirror,
    isWriting: () => state.isWriting,
    onMissing: () => {
      state.missing += 1
      steps.clear()
    },
  })
  return { steps, taken, state }
}

const own = (step: number): Step => ({ step, writes: [{ key: 'own', revision: step, value: Buffer.from('x') }] })
const deletion = (step: number): Step => ({ step, writes: [{ key: 'gone', revision: step, value: undefined }] })

test('own steps and deletions that follow one another', () => {
  const { steps, taken } = subject()
  steps.takeOwn(own(11))
  steps.takeDeletions(deletion(12))
  steps.takeOwn(own(13))
  assert.deepEqual(taken, ['11: own', '12: gone', '13: own'])
})

test('an answer that comes before the deletion of the step before it', async () => {
  const { steps, taken, state } = subject()
  steps.takeOwn(own(12))
  steps.takeOwn(own(13))
  assert.deepEqual(taken, [])
  steps.takeDeletions(deletion(11))
  await sleep(50)
  assert.deepEqual([taken, state.missing], [['11: gone', '12: own', '13: own'], 0])
})

test('a deletion while a write is on its way may be its echo: the answer decides', async () => {
  const { steps, taken, state } = subject()
  state.isWriting = true
  steps.takeDeletions(deletion(11))
  steps.takeDeletions(deletion(12))
  await sleep(50)
  assert.deepEqual([taken, state.missing], [[], 0], 'an answer may take its time')
  state.isWriting = false
  steps.takeOwn(own(11))
  assert.deepEqual(taken, ['11: own', '12: gone'])
})

test('a deletion before the write that was on its way', () => {
  const { steps, taken, state } = subject()
  state.isWriting = true
  steps.takeDeletions(deletion(11))
  state.isWriting = false
  steps.takeOwn(own(12))
  assert.deepEqual(taken, ['11: gone', '12: own'])
})

test('the echo of what is known already is nothing', async () => {
  const { steps, taken, state } = subject()
  steps.takeOwn(own(11))
  steps.takeDeletions(deletion(11))
  steps.takeDeletions(deletion(9))
  await sleep(50)
  assert.deepEqual([taken, state.missing], [['11: own'], 0])
})

for (const [what, take] of [
  ['a step of others before an own one', (steps: OwnSteps) => steps.takeOwn(own(12))],
  ['a step of others before a deletion', (steps: OwnSteps) => steps.takeDeletions(deletion(12))],
] as const) {
  test(`${what} is missing, and that is said once`, async () => {
    const { steps, taken, state } = subject()
    take(steps)
    await sleep(80)
    assert.deepEqual([taken, state.missing], [[], 1])
  })
}
