// Connections take turns, what waits is bounded, and nothing is begun for a client that has gone.

import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { timedTest } from '../base/timed-test.fixture.js'
import { FairTurns, setOwner } from './fair-turns.js'

/** A clock: however long a test takes, no turn is over. */
const stoodStill = (): number => 0

function connection() {
  const seen = { stops: 0, starts: 0, destroyed: false }
  const socket = {
    _handle: { readStop: () => void seen.stops++, readStart: () => void seen.starts++ },
    get destroyed() {
      return seen.destroyed
    },
    destroy: () => {
      seen.destroyed = true
    },
  } as unknown as Socket
  return { socket, seen }
}

type Client = ReturnType<typeof connection>

test('a connection with many requests takes turns with one that has a few, and each keeps its order', async () => {
  const turns = new FairTurns(stoodStill)
  const log: string[] = []
  const [many, few] = [connection(), connection()]
  setOwner(many.socket, 'somebody')
  for (let i = 0; i < 20; i++) turns.run({ connection: many.socket, socket: many.socket, begin: () => void log.push(`many ${i}`) })
  for (let i = 0; i < 10; i++) turns.run({ connection: few.socket, socket: few.socket, begin: () => void log.push(`few ${i}`) })
  assert.equal(log.length, 16, 'eight of each without waiting')
  while (log.length < 30) await nextTurn()
  assert.ok(log.indexOf('few 9') < log.indexOf('many 12'), log.join())
  for (const { of, count } of [
    { of: 'many', count: 20 },
    { of: 'few', count: 10 },
  ])
    assert.deepEqual(
      log.filter((line) => line.startsWith(of)),
      Array.from({ length: count }, (_, i) => `${of} ${i}`),
    )
})

test('requests that take long are begun in turns of a few milliseconds', async () => {
  const turns = new FairTurns()
  const { socket } = connection()
  let begun = 0
  const busy = (): void => {
    begun++
    for (const until = performance.now() + 2; performance.now() < until; );
  }
  for (let i = 0; i < 40; i++) turns.run({ connection: socket, socket, begin: busy })
  for (let before = begun; begun < 40; before = begun) {
    await nextTurn()
    assert.ok(begun - before <= 4, `${begun - before} in one turn`)
  }
})

test('a connection with much that waits is not read from until it has little left', async () => {
  const turns = new FairTurns(stoodStill)
  const { socket, seen } = connection()
  let begun = 0
  for (let i = 0; i < 500; i++) turns.run({ connection: socket, socket, begin: () => void begun++ })
  // Each that comes all the same stops it again: somebody else may have let it go on.
  assert.ok(seen.stops > 1 && seen.starts === 0, `${seen.stops} ${seen.starts}`)
  const { stops } = seen
  while (begun < 500) await nextTurn()
  assert.deepEqual([seen.stops, seen.starts], [stops, 1])
})

test('what waits for a connection that has gone is forgotten', async () => {
  const turns = new FairTurns(stoodStill)
  const { socket, seen } = connection()
  let begun = 0
  for (let i = 0; i < 50; i++) turns.run({ connection: socket, socket, begin: () => void begun++ })
  seen.destroyed = true
  for (let i = 0; i < 10; i++) await nextTurn()
  assert.equal(begun, 8)
})

test('the connection that brings more than can wait is closed', () => {
  const turns = new FairTurns(stoodStill)
  const { socket, seen } = connection()
  for (let i = 0; i < 10_008; i++) turns.run({ connection: socket, socket, begin: () => undefined })
  assert.equal(seen.destroyed, false)
  turns.run({ connection: socket, socket, begin: () => undefined })
  assert.equal(seen.destroyed, true)
})

test('ten times as many as can wait, from many connections: no more wait, and those that brought them are closed', () => {
  const turns = new FairTurns(stoodStill)
  const connections = Array.from({ length: 100 }, connection)
  let begun = 0
  for (let i = 0; i < 1000; i++)
    for (const { socket, seen } of connections) if (!seen.destroyed) turns.run({ connection: socket, socket, begin: () => void begun++ })
  const left = connections.filter(({ seen }) => !seen.destroyed).length
  assert.ok(left < 100, `${left} are left`)
  assert.ok(begun <= 100 * 8, `${begun} were begun at once`)
})

test('when the time of a turn is up, connections that have just come wait as well, and none is forgotten', async () => {
  let nowMs = 0
  const turns = new FairTurns(() => nowMs)
  const connections = Array.from({ length: 100 }, connection)
  let begun = 0
  const begin = (): void => {
    begun++
    nowMs++
  }
  for (const { socket } of connections) turns.run({ connection: socket, socket, begin })
  assert.equal(begun, 5, 'a millisecond each')
  for (let before = begun; begun < 100; before = begun) {
    await nextTurn()
    assert.ok(begun - before <= 5, `${begun - before} in one turn`)
  }
})

test('where no more can wait, a connection with few requests is served all the same', () => {
  let nowMs = 0
  const turns = new FairTurns(() => nowMs)
  const many = Array.from({ length: 10_100 }, connection)
  let begun = 0
  turns.run({ connection: {}, socket: connection().socket, begin: () => void begun++ })
  nowMs = 100
  for (const { socket } of many) turns.run({ connection: socket, socket, begin: () => void begun++ })
  assert.equal(begun, 101)
  assert.ok(many.every(({ seen }) => !seen.destroyed))
})

/** Of a request that was sent before the one before it was answered. */
const queuedAnswer = () => Object.assign(new EventEmitter(), { socket: null })

test('of requests whose answers wait for earlier ones a few are begun, and the others when these were sent', async () => {
  const turns = new FairTurns(stoodStill)
  const { socket } = connection()
  const answers = Array.from({ length: 100 }, queuedAnswer)
  let begun = 0
  for (const answer of answers) turns.run({ connection: socket, socket, begin: () => void begun++, answer })
  for (let i = 0; i < 10; i++) await nextTurn()
  assert.equal(begun, 8)
  for (let sent = 0; sent < 100; ) {
    assert.equal(begun, Math.min(100, sent + 8))
    for (const last = sent + 5; sent < last; sent++) answers[sent]?.emit('close')
    for (let i = 0; i < 3; i++) await nextTurn()
  }
  assert.equal(begun, 100)
})

test('answers that can be sent at once, or in any order, are not waited for', async () => {
  const turns = new FairTurns(stoodStill)
  const [first, second] = [connection(), connection()]
  let begun = 0
  for (let i = 0; i < 100; i++) {
    turns.run({
      connection: first.socket,
      socket: first.socket,
      begin: () => void begun++,
      answer: Object.assign(new EventEmitter(), { socket: first.socket }),
    })
    turns.run({ connection: second.socket, socket: second.socket, begin: () => void begun++ })
  }
  for (let i = 0; i < 10; i++) await nextTurn()
  assert.equal(begun, 200)
})

test('requests that wait for answers nobody takes are dropped when others have to wait', async () => {
  const turns = new FairTurns(stoodStill)
  const stuck = Array.from({ length: 30 }, connection)
  for (const { socket } of stuck.slice(0, 15))
    for (let i = 0; i < 508; i++) turns.run({ connection: socket, socket, begin: () => undefined, answer: queuedAnswer() })
  for (let i = 0; i < 3; i++) await nextTurn()
  for (const { socket } of stuck.slice(15))
    for (let i = 0; i < 508; i++) turns.run({ connection: socket, socket, begin: () => undefined, answer: queuedAnswer() })
  assert.ok(
    stuck.slice(15).every(({ seen }) => !seen.destroyed),
    'those that have just come',
  )
  for (let i = 0; i < 3; i++) await nextTurn()
  const other = connection()
  let begun = 0
  for (let i = 0; i < 3000; i++) turns.run({ connection: other.socket, socket: other.socket, begin: () => void begun++ })
  while (begun < 3000 && !other.seen.destroyed) await nextTurn()
  assert.equal(begun, 3000)
  assert.ok(stuck.some(({ seen }) => seen.destroyed) && stuck.some(({ seen }) => !seen.destroyed))
})

test('users take turns, however many connections one of them has', async () => {
  let nowMs = 0
  const turns = new FairTurns(() => nowMs)
  const log: string[] = []
  const ask = (user: string): void => {
    const { socket } = connection()
    if (user !== '') setOwner(socket, user)
    const begin = (): void => {
      log.push(user)
      nowMs++
    }
    turns.run({ connection: socket, socket, begin })
  }
  for (let i = 0; i < 100; i++) ask('loud')
  assert.equal(log.length, 5, 'a millisecond each')
  for (const user of ['quiet', '', 'quiet', '']) ask(user)
  assert.equal(log.length, 5, 'the time of the turn is up')
  await nextTurn()
  await nextTurn()
  assert.deepEqual(log.slice(5, 15), ['loud', 'quiet', '', 'loud', 'quiet', '', 'loud', 'loud', 'loud', 'loud'])
  while (log.length < 104) await nextTurn()
})

test('what is urgent has every second turn, however many users wait and whatever is sent behind it', async () => {
  let nowMs = 0
  const turns = new FairTurns(() => nowMs)
  const log: string[] = []
  const ask = ({ socket }: Client, name: string, isUrgent = false): void => {
    const begin = (): void => {
      log.push(name)
      nowMs++
    }
    turns.run({ connection: socket, socket, begin, isUrgent })
  }
  const users = Array.from({ length: 50 }, connection)
  for (const [i, { socket }] of users.entries()) setOwner(socket, `user ${i}`)
  for (const client of users) ask(client, 'other')
  const [first, second, third] = [connection(), connection(), connection()]
  ask(first, 'urgent', true)
  for (let i = 0; i < 4; i++) ask(first, 'behind it')
  ask(second, 'urgent', true)
  ask(third, 'in front')
  ask(third, 'urgent', true)
  assert.equal(log.length, 5)
  while (log.length < 58) await nextTurn()
  const begun = log.slice(5)
  assert.equal(begun.slice(0, 4).filter((name) => name === 'urgent').length, 2, begun.join())
  assert.ok(begun.indexOf('behind it') > 40, 'it is not urgent itself')
  assert.ok(begun.lastIndexOf('urgent') - begun.indexOf('in front') <= 2, begun.join())
})

test('who has none that wait is served at once while there is time, and nobody overtakes his own', async () => {
  const turns = new FairTurns(stoodStill)
  const log: string[] = []
  const [loud, alsoLoud, quiet, probe] = Array.from({ length: 4 }, connection) as [Client, Client, Client, Client]
  for (const { socket } of [loud, alsoLoud, probe]) setOwner(socket, 'loud')
  setOwner(quiet.socket, 'quiet')
  const ask = ({ socket }: Client, name: string, isUrgent = false): void =>
    turns.run({ connection: socket, socket, begin: () => void log.push(name), isUrgent })
  for (let i = 0; i < 9; i++) ask(loud, 'loud')
  ask(alsoLoud, 'late')
  ask(quiet, 'quiet')
  ask(probe, 'probe', true)
  assert.deepEqual(log.slice(8), ['quiet', 'probe'])
  while (log.length < 12) await nextTurn()
  assert.deepEqual(log.slice(10), ['loud', 'late'])
})

test('a connection goes on when it turns out whose it is while its requests wait', async () => {
  let nowMs = 0
  const turns = new FairTurns(() => nowMs)
  const { socket } = connection()
  let begun = 0
  const begin = (): void => {
    begun++
    nowMs += 5
    setOwner(socket, `user ${begun}`)
  }
  for (let i = 0; i < 20; i++) turns.run({ connection: socket, socket, begin })
  assert.equal(begun, 1)
  for (let i = 0; i < 25; i++) await nextTurn()
  assert.equal(begun, 20)
})

test('where no more can wait and the time of a turn is up, the connection with most waiting is closed, and others wait', async () => {
  let nowMs = 0
  const turns = new FairTurns(() => nowMs)
  const floods = Array.from({ length: 100 }, connection)
  const few = Array.from({ length: 500 }, connection)
  let begun = 0
  const ask = ({ socket }: Client): void => turns.run({ connection: socket, socket, begin: () => void begun++ })
  ask(connection())
  nowMs = 100
  for (const flood of floods) for (let i = 0; i < 100; i++) ask(flood)
  assert.equal(begun, 1)
  for (const client of few) ask(client)
  assert.equal(begun, 1, 'nothing more is begun in this turn')
  for (const client of few) ask(client)
  assert.ok(few.every(({ seen }) => !seen.destroyed))
  assert.equal(floods.filter(({ seen }) => seen.destroyed).length, 10)
  while (begun < 1 + 90 * 100 + 2 * 500) await nextTurn()
})

test('of a connection that was closed here nothing is begun, also of what it has sent already', () => {
  const turns = new FairTurns(stoodStill)
  const { socket, seen } = connection()
  let begun = 0
  for (let i = 0; i < 12_000; i++) turns.run({ connection: socket, socket, begin: () => void begun++ })
  assert.equal(seen.destroyed, true)
  assert.equal(begun, 8)
})

timedTest('where 10,000 wait, what comes takes no longer for it', async () => {
  const turns = new FairTurns(stoodStill)
  const connections = Array.from({ length: 9_000 }, connection)
  const askAll = (): void => {
    for (const { socket, seen } of connections) if (!seen.destroyed) turns.run({ connection: socket, socket, begin: () => undefined })
  }
  for (let i = 0; i < 9; i++) askAll()
  const begun = performance.now()
  for (let i = 0; i < 3; i++) askAll()
  const took = performance.now() - begun
  assert.ok(took < 500, `${took} ms`)
})

test('as many make room as others come, however many that are in one turn', () => {
  let nowMs = 0
  const turns = new FairTurns(() => nowMs)
  const ask = ({ socket }: Client, begin: () => void = () => undefined): void => turns.run({ connection: socket, socket, begin })
  ask(connection())
  nowMs = 100
  const many = Array.from({ length: 5000 }, connection)
  for (let i = 0; i < 2; i++) for (const each of many) ask(each)
  let begun = 0
  const others = Array.from({ length: 500 }, connection)
  for (const each of others) ask(each, () => void begun++)
  assert.equal(begun, 0)
  assert.ok(others.every(({ seen }) => !seen.destroyed))
})
