// Filters run in order until one has responded.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Exchange } from './exchange.js'
import { runFilters } from './request-listener.js'

test('the first filter that responds ends the pipeline', async () => {
  const calledFilters: string[] = []
  const filter = (name: string, isHandled: boolean) => async () => {
    calledFilters.push(name)
    return isHandled
  }
  assert.equal(await runFilters([filter('a', false), filter('b', false), filter('c', true), filter('d', false)], {} as Exchange), true)
  assert.deepEqual(calledFilters, ['a', 'b', 'c'])
})
