// Retries of requests that get 504 ResourceVersionTooLarge.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isVersionTooLarge, StatusError } from '../errors.js'
import type { Transport, TransportResponse } from '../transport/transport.js'
import { Requester } from './requester.js'

test('a request that gets 504 ResourceVersionTooLarge is sent 3 times, with another 504 11 times', async () => {
  let causes: readonly object[] = [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }]
  let count = 0
  const send = async (): Promise<TransportResponse> => {
    count++
    const body = JSON.stringify({ kind: 'Status', code: 504, reason: 'Timeout', details: { causes } })
    const header = (name: string): string => (name === 'retry-after' ? '0' : '')
    return { status: 504, header, text: async () => body, discard: () => undefined } as unknown as TransportResponse
  }
  const requester = new Requester({ transport: { send, close: () => undefined } as unknown as Transport })
  await assert.rejects(requester.json({ path: '/' }), isVersionTooLarge)
  assert.equal(count, 3)
  causes = []
  count = 0
  await assert.rejects(requester.json({ path: '/' }), (error) => error instanceof StatusError && !isVersionTooLarge(error))
  assert.equal(count, 11)
})
