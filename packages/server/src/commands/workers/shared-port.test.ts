// The port of all workers: connections that a worker lost are handed again.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { silentLogger } from '@cluster-apiserver/api/base/logger.js'
import { type ConnectionTarget, SharedPort } from './shared-port.js'

class Target implements ConnectionTarget {
  readonly handed = new Map<number, Socket>()
  readonly confirmed: number[] = []
  #waiting: (() => void) | undefined

  hand(id: number, socket: Socket): void {
    this.handed.set(id, socket)
    this.#waiting?.()
  }

  confirm(id: number): void {
    this.confirmed.push(id)
  }

  async untilHanded(count: number): Promise<void> {
    while (this.handed.size < count)
      await new Promise<void>((resolve) => {
        this.#waiting = resolve
      })
  }
}

test('a connection that never arrived at its worker is handed again', async (t) => {
  const port = new SharedPort(silentLogger)
  t.after(() => port.close())
  const { port: number } = await port.open('127.0.0.1', 0)
  const target = new Target()
  port.add(target)
  const clients = await Promise.all(
    [1, 2].map(async () => {
      const client = connect(number, '127.0.0.1')
      await once(client, 'connect')
      return client
    }),
  )
  t.after(() => {
    for (const client of clients) client.destroy()
  })
  await target.untilHanded(2)
  port.settle(1, true)
  port.findLost()
  assert.deepEqual(target.confirmed, [2])
  port.reclaim(target, 2)
  assert.deepEqual([...target.handed.keys()], [1, 2, 3])
  assert.ok(target.handed.get(3) === target.handed.get(2))
  port.settle(3, true)
  port.findLost()
  assert.deepEqual(target.confirmed, [2], 'no connection is pending')
})
