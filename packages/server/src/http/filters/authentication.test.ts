// The authentication filter: clients with invalid credentials queue apart from connections that are not authenticated yet.

import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import { TurnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import { FairRequestQueue } from '../../net/listen/fair-request-queue.js'
import type { Exchange } from '../pipeline/exchange.js'
import { authentication } from './authentication.js'

test('connections with invalid credentials do not queue with connections not authenticated yet', async () => {
  const queue = new FairRequestQueue(new TurnBudget(() => 0))
  const begun: string[] = []
  const [unknown, other, third, refused] = [{} as Socket, {} as Socket, {} as Socket, {} as Socket]
  const send = (socket: Socket, name: string): void => queue.run({ connection: socket, socket, begin: () => void begun.push(name) })
  const filter = authentication({ authenticators: [], anonymous: undefined })
  await assert.rejects(async () => filter({ connection: refused, begunMs: 0 } as unknown as Exchange), ApiError)
  for (const socket of [unknown, other, third]) send(socket, 'unknown')
  send(refused, 'refused')
  for (let i = 0; i < 10 && begun.length < 4; i++) await nextTurn()
  assert.deepEqual(begun, ['unknown', 'refused', 'unknown', 'unknown'])
})
