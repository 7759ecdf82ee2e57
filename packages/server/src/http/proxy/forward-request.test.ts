// Limit of forwarded requests: in total, and half of it per user.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { anonymous, type User } from '@cluster-apiserver/api/api/user.js'
import { OverloadedError } from '../../flow-control/memory-pressure.js'
import { ForwardingLimit } from './forward-request.js'

class Client {
  readonly user: User
  readonly originalUser: User | undefined
  private readonly callbacks: (() => void)[] = []

  constructor(name: string, impersonated?: string) {
    this.user = { ...anonymous, name: impersonated ?? name }
    this.originalUser = impersonated === undefined ? undefined : { ...anonymous, name }
  }

  onClose(callback: () => void): void {
    this.callbacks.push(callback)
  }

  close(): void {
    for (const callback of this.callbacks) callback()
  }
}

/** The clients that are accepted. */
const accepted = (limit: ForwardingLimit, clients: readonly Client[]): Client[] =>
  clients.filter((client) => {
    try {
      limit.enter(client)
      return true
    } catch (thrown) {
      assert.ok(thrown instanceof OverloadedError)
      return false
    }
  })

const many = (count: number, createClient: (i: number) => Client): readonly Client[] =>
  Array.from({ length: count }, (_, i) => createClient(i))

test('one user gets half of the limit, all users together the limit', () => {
  const limit = new ForwardingLimit(400)
  const bobs = accepted(
    limit,
    many(4000, () => new Client('bob')),
  )
  assert.equal(bobs.length, 200)
  const anns = accepted(
    limit,
    many(4000, (i) => new Client(`ann-${i % 10}`)),
  )
  assert.equal(anns.length, 200)
  assert.equal(limit.open, 400)
  for (const client of [...bobs, ...anns]) client.close()
  assert.equal(limit.open, 0)
  assert.equal(accepted(limit, [new Client('bob')]).length, 1)
})

test('requests of an impersonating user count as one user', () => {
  const limit = new ForwardingLimit(10)
  assert.equal(
    accepted(
      limit,
      many(100, (i) => new Client('mallory', `user-${i}`)),
    ).length,
    5,
  )
})

test('a released request is not counted down again when it is closed', () => {
  const limit = new ForwardingLimit(4)
  const client = new Client('bob')
  const release = limit.enter(client)
  limit.enter(new Client('bob'))
  release()
  release()
  client.close()
  assert.equal(limit.open, 1)
})
