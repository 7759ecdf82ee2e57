// How many requests are somebody else's to answer, and that nobody has all of the room.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { anonymous, type User } from '../api/user.js'
import { ForwardingRoom } from './forward-exchange.js'
import { OverloadedError } from './pressure.js'

class Client {
  readonly user: User
  readonly originalUser: User | undefined
  private readonly leaving: (() => void)[] = []

  constructor(name: string, as?: string) {
    this.user = { ...anonymous, name: as ?? name }
    this.originalUser = as === undefined ? undefined : { ...anonymous, name }
  }

  onLeave(act: () => void): void {
    this.leaving.push(act)
  }

  leave(): void {
    for (const act of this.leaving) act()
  }
}

/** How many get in. */
const crowd = (room: ForwardingRoom, clients: readonly Client[]): Client[] =>
  clients.filter((client) => {
    try {
      room.enter(client)
      return true
    } catch (thrown) {
      assert.ok(thrown instanceof OverloadedError)
      return false
    }
  })

const many = (count: number, make: (i: number) => Client): readonly Client[] => Array.from({ length: count }, (_, i) => make(i))

test('ten times too many of one user leave half of the room to others, and all of them none', () => {
  const room = new ForwardingRoom(400)
  const bobs = crowd(
    room,
    many(4000, () => new Client('bob')),
  )
  assert.equal(bobs.length, 200)
  const anns = crowd(
    room,
    many(4000, (i) => new Client(`ann-${i % 10}`)),
  )
  assert.equal(anns.length, 200)
  assert.equal(room.open, 400)
  for (const client of [...bobs, ...anns]) client.leave()
  assert.equal(room.open, 0)
  assert.equal(crowd(room, [new Client('bob')]).length, 1)
})

test('who acts as others is one user', () => {
  const room = new ForwardingRoom(10)
  assert.equal(
    crowd(
      room,
      many(100, (i) => new Client('mallory', `user-${i}`)),
    ).length,
    5,
  )
})

test('who leaves early has left once', () => {
  const room = new ForwardingRoom(4)
  const client = new Client('bob')
  const leave = room.enter(client)
  room.enter(new Client('bob'))
  leave()
  leave()
  client.leave()
  assert.equal(room.open, 1)
})
