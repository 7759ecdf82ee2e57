// The step of a request in which it turns out who sent it.

import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { ApiError } from '../api/api-error.js'
import { FairTurns } from '../net/fair-turns.js'
import type { Exchange } from './exchange.js'
import { authentication } from './filters.js'

test('a connection on which somebody was refused does not wait with those of whom nothing is known', () => {
  const turns = new FairTurns(() => 0)
  const begun: string[] = []
  const [unknown, other, refused] = [{} as Socket, {} as Socket, {} as Socket]
  const ask = (socket: Socket, name: string): void => turns.run({ connection: socket, socket, begin: () => void begun.push(name) })
  const refuse = authentication({ authenticators: [], anonymous: undefined })
  assert.throws(() => refuse({ connection: refused, begunMs: 0 } as unknown as Exchange), ApiError)
  for (let i = 0; i < 9; i++) ask(refused, 'refused')
  for (const socket of [refused, unknown, other]) ask(socket, socket === refused ? 'refused' : 'unknown')
  assert.deepEqual(begun.slice(8), ['unknown', 'unknown'])
})
