// Requests that are begun here and carried out elsewhere.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CatalogSource } from '../api/catalog-source.js'
import { nothingDrawn } from '../api/draws.js'
import { anonymous } from '../api/user.js'
import { TooHeavyError } from '../base/weight.js'
import { collectAnswer } from './collected-exchange.js'
import type { Exchange } from './exchange.js'
import { requestListener } from './handle.js'
import type { Offload, OffloadedAnswer } from './offload.js'
import { Pressure } from './pressure.js'

test('the audit log hears what was found out elsewhere, and not what was thought before', async () => {
  const answer: OffloadedAnswer = {
    code: 200,
    headers: [],
    body: Buffer.from('{}'),
    annotations: [{ key: 'mutation', value: 'true', atLeast: 'Metadata' }],
  }
  const offload: Pick<Offload, 'serve'> = { serve: async () => answer }
  let served: Exchange | undefined
  const listener = requestListener({
    filters: [
      async (exchange) => {
        served = exchange
        exchange.offload = offload as Offload
        exchange.user = anonymous
        exchange.annotate('decision', 'allow')
        exchange.annotate('mutation', 'false')
        throw new TooHeavyError()
      },
    ],
    hooks: [],
    catalogs: { current: {} } as unknown as CatalogSource,
    clock: { now: () => 0 },
    requestTimeoutMs: 60_000,
    pressure: new Pressure({ bodyBytes: 1 << 20, answerBytes: 1 << 20, answerMs: 60_000 }),
  })
  const sent = { method: 'POST', url: '/api/v1/namespaces', headers: {}, body: Buffer.from('{}') }
  const about = {
    user: anonymous,
    now: 0,
    auditId: 'one',
    audit: undefined,
    remoteAddress: '127.0.0.1',
    warnings: [],
    answered: [],
    drawn: nothingDrawn,
  }
  assert.equal((await collectAnswer(listener, { ...sent, ...about })).code, 200)
  assert.deepEqual(
    Array.from(served?.annotations ?? [], ({ key, value }) => [key, value]),
    [
      ['decision', 'allow'],
      ['mutation', 'true'],
    ],
  )
})
