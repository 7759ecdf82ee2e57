// Times that are longer than timers can be set for: what they are for does not end at once.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { Requester, sleep } from './requester.js'
import type { Transport } from './transport.js'

const longMs = 600 * 3_600_000

test('a request may take that long', async () => {
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

test('a pause does', async () => {
  const ending = new AbortController()
  const slept = sleep(longMs, ending.signal).then(
    () => 'over',
    () => 'ended',
  )
  await pause(10)
  ending.abort()
  assert.equal(await slept, 'ended')
})
