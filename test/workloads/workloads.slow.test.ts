// Replays the recorded scenarios of the workload controllers and the scheduler: every observation must match.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findScenarios, replayWorkloads } from './replay.js'

const root = findScenarios()

describe('recorded scenarios of workloads', {
  skip: root === undefined ? 'there are no scenarios here; see WORKLOADS_ROOT' : false,
}, () => {
  test('every observation matches', async () => {
    const { output, code } = await replayWorkloads({ root: root ?? '' })
    assert.equal(code, 0, output)
    assert.match(output, /total: matched [1-9]\d* of /)
  })
})
