// Timeouts above 2^31 ms, the maximum of setTimeout, do not expire at once.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { Transport } from '../transport/transport.js'
import { Requester, sleep } from './requester.js'

const longMs = 600 * 3_600_000

test('a request with a timeout of 600 h succeeds', async () => {
  const transport = {
    send: async ({ signal }) => {
      await pause(20, undefined, { signal })
      return { status: 200, header: () => '', text: async () => '{}', chunks: () => assert.fail(), discard: () => undefined }
    },
    openSocket: () => assert.fail(),
    close: () => undefined,
  } satisfies Transport
  assert.deepEqual(await new Requester({ transport, timeoutMs: longMs }).json({ path: '/' }), {})
})

test('sleep of 600 h waits until it is aborted', async () => {
  const controller = new AbortController()
  const slept = sleep(longMs, controller.signal).then(
    () => 'over',
    () => 'ended',
  )
  await pause(10)
  controller.abort()
  assert.equal(await slept, 'ended')
})
