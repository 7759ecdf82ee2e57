// The fair request queue: round-robin between users, limits on waiting requests, and disconnected clients.

import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { TurnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import { FairRequestQueue, type IncomingRequest, setOwner } from './fair-request-queue.js'

function connection(owner?: string) {
  const counts = { pauses: 0, resumes: 0, destroyed: false }
  const socket = {
    pause: () => void counts.pauses++,
    resume: () => void counts.resumes++,
    get destroyed() {
      return counts.destroyed
    },
    destroy: () => {
      counts.destroyed = true
    },
  } as unknown as Socket
  if (owner !== undefined) setOwner(socket, owner)
  return { socket, counts }
}

type Client = ReturnType<typeof connection>

/** `costMs`: time that each request takes, by the fixture's clock. */
function fixture(costMs = 0) {
  let nowMs = 0
  const log: string[] = []
  const queue = new FairRequestQueue(new TurnBudget(() => nowMs))
  const send = ({ socket }: Client, name = '', fields: Partial<IncomingRequest> = {}): void => {
    const begin = (): void => {
      log.push(name)
      nowMs += costMs
    }
    queue.run({ connection: socket, socket, begin, ...fields })
  }
  return { log, send }
}

/** A pipelined response behind an earlier one. */
const queuedResponse = () => Object.assign(new EventEmitter(), { socket: null })

async function turnsUntil(isDone: () => boolean): Promise<void> {
  for (let i = 0; i < 20_000 && !isDone(); i++) await nextTurn()
  assert.ok(isDone())
}

test('connections with many and with few requests are served in turn, each in its order', async () => {
  const { log, send } = fixture()
  const [many, few] = [connection('somebody'), connection()]
  for (let i = 0; i < 20; i++) send(many, `many ${i}`)
  for (let i = 0; i < 10; i++) send(few, `few ${i}`)
  await turnsUntil(() => log.length === 30)
  assert.ok(log.indexOf('few 9') < log.indexOf('many 12'), log.join())
  for (const [name, count] of [
    ['many', 20],
    ['few', 10],
  ] as const)
    assert.deepEqual(
      log.filter((line) => line.startsWith(name)),
      Array.from({ length: count }, (_, i) => `${name} ${i}`),
    )
})

test('with the time budget spent, a minimum of requests starts per turn and all are served', async () => {
  const { log, send } = fixture(5)
  for (let i = 0; i < 100; i++) send(connection())
  for (let before = log.length; log.length < 100; before = log.length) {
    await nextTurn()
    assert.ok(log.length - before <= 32, `${log.length - before} in one turn`)
  }
})

test('an HTTP/1.1 connection with many waiting requests is paused until few are left', async () => {
  const { log, send } = fixture()
  const client = connection('ann')
  for (let i = 0; i < 500; i++) send(client, '', { response: Object.assign(new EventEmitter(), { socket: client.socket }) })
  assert.ok(client.counts.pauses > 0 && client.counts.resumes === 0)
  await turnsUntil(() => log.length === 500)
  assert.equal(client.counts.resumes, 1)
})

test('a connection without an authenticated user is closed when it pipelines more than 128 requests', () => {
  for (const [owner, isClosed] of [
    [undefined, true],
    ['system:anonymous', true],
    ['system:unauthenticated', true],
    ['ann', false],
  ] as const) {
    const { send } = fixture()
    const client = connection(owner)
    for (let i = 0; i < 200; i++) send(client, '', { response: queuedResponse() as never })
    assert.equal(client.counts.destroyed, isClosed)
  }
})

test('an HTTP/2 connection is not paused', () => {
  const { send } = fixture()
  const client = connection('ann')
  for (let i = 0; i < 200; i++) send(client)
  assert.equal(client.counts.pauses, 0)
})

test('waiting requests of a closed connection are dropped', async () => {
  const { log, send } = fixture()
  const client = connection()
  for (let i = 0; i < 50; i++) send(client)
  client.counts.destroyed = true
  for (let i = 0; i < 10; i++) await nextTurn()
  send(client)
  await nextTurn()
  assert.equal(log.length, 0)
})

test('beyond 10,000 waiting requests the connection that adds more is closed, and others are served', async () => {
  const { log, send } = fixture()
  const flood = connection('loud')
  for (let i = 0; i < 10_000; i++) send(flood)
  assert.equal(flood.counts.destroyed, false)
  const other = connection('quiet')
  send(other, 'quiet')
  send(other, 'quiet again')
  assert.equal(other.counts.destroyed, false, 'a user below the average is not disconnected')
  send(flood)
  assert.equal(flood.counts.destroyed, true)
  await turnsUntil(() => log.includes('quiet again'))
})

test('at most 8 pipelined requests of a connection run at a time', async () => {
  const { log, send } = fixture()
  const client = connection()
  const responses = Array.from({ length: 100 }, queuedResponse)
  for (const response of responses) send(client, '', { response })
  for (let i = 0; i < 10; i++) await nextTurn()
  assert.equal(log.length, 8)
  for (let sent = 0; sent < 100; ) {
    for (const last = sent + 5; sent < last; sent++) responses[sent]?.emit('close')
    await turnsUntil(() => log.length === Math.min(100, sent + 8))
  }
})

test('users are served round-robin, however many connections one has', async () => {
  const { log, send } = fixture(5)
  for (let i = 0; i < 100; i++) send(connection('loud'), 'loud')
  for (const user of ['quiet', '', 'quiet', '']) send(connection(user), user)
  await turnsUntil(() => log.length >= 8)
  assert.deepEqual(log.slice(0, 8), ['loud', 'quiet', '', 'loud', 'quiet', '', 'loud', 'loud'])
  await turnsUntil(() => log.length === 104)
})

test('urgent requests get every second slot, later requests of their connection do not', async () => {
  const { log, send } = fixture(5)
  for (let i = 0; i < 50; i++) send(connection(`user ${i}`), 'other')
  const [first, second] = [connection(), connection()]
  send(first, 'urgent', { isUrgent: true })
  for (let i = 0; i < 4; i++) send(first, 'later')
  send(second, 'urgent', { isUrgent: true })
  await turnsUntil(() => log.length === 56)
  assert.equal(log.slice(0, 4).filter((name) => name === 'urgent').length, 2, log.join())
  assert.ok(log.indexOf('later') > 20, log.join())
})

test('requests start in the turn in which they arrive if there is time', async () => {
  const { log, send } = fixture()
  const loud = connection('loud')
  for (let i = 0; i < 3; i++) send(loud, 'loud')
  send(connection('quiet'), 'quiet')
  send(connection('loud'), 'probe', { isUrgent: true })
  await nextTurn()
  assert.deepEqual(log.toSorted(), ['loud', 'probe', 'quiet'], 'one per connection')
  await turnsUntil(() => log.length === 5)
})

test('a connection continues when it is authenticated while requests wait', async () => {
  const queue = new FairRequestQueue()
  const { socket } = connection()
  let begun = 0
  for (let i = 0; i < 20; i++) queue.run({ connection: socket, socket, begin: () => setOwner(socket, `user ${++begun}`) })
  await turnsUntil(() => begun === 20)
})
