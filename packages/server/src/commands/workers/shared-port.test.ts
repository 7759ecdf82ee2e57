// The port of all workers: connections that a worker lost are handed again.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
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

/** Messages to this worker and from it arrive in order, each after a random delay. It refuses some connections, and some never arrive. */
class LateWorker implements ConnectionTarget {
  /** Ports of clients. */
  readonly accepted = new Set<number | undefined>()
  readonly #port: SharedPort
  #received = Promise.resolve()
  #replied = Promise.resolve()
  #hasEnded = false

  constructor(port: SharedPort) {
    this.#port = port
  }

  hand(id: number, { remotePort }: Socket): void {
    this.#receive(() => {
      const choice = Math.random()
      if (choice < 0.1) return
      if (choice >= 0.2) this.accepted.add(remotePort)
      this.#reply(() => this.#port.settle(id, choice >= 0.2))
    })
  }

  confirm(id: number): void {
    this.#receive(() => this.#reply(() => this.#port.reclaim(this, id)))
  }

  /** Its connections end, too. The primary learns of it late. */
  async end(): Promise<void> {
    this.#hasEnded = true
    this.accepted.clear()
    this.#port.remove(this, false)
    await randomDelay()
    this.#port.remove(this, true)
  }

  #receive(step: () => void): void {
    this.#received = this.#received.then(randomDelay).then(() => {
      if (!this.#hasEnded) step()
    })
  }

  #reply(step: () => void): void {
    this.#replied = this.#replied.then(randomDelay).then(() => {
      if (!this.#hasEnded) step()
    })
  }
}

const randomDelay = (): Promise<void> => sleep(Math.random() * 4)

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

test('with delays between all steps, while workers end, every connection has one worker in the end', async (t) => {
  const port = new SharedPort(silentLogger)
  t.after(() => port.close())
  const { port: number } = await port.open('127.0.0.1', 0)
  const workers = Array.from({ length: 3 }, () => new LateWorker(port))
  for (const worker of workers) port.add(worker)
  const ended = new Set<number | undefined>()
  const clients: (number | undefined)[] = []
  for (let i = 0; i < 200; i++) {
    const client = connect(number, '127.0.0.1').on('error', () => undefined)
    t.after(() => client.destroy())
    await once(client, 'connect')
    clients.push(client.localPort)
    if (i % 40 !== 39) continue
    const first = workers.shift()
    for (const each of first?.accepted ?? []) ended.add(each)
    await first?.end()
    const next = new LateWorker(port)
    workers.push(next)
    port.add(next)
  }
  const holders = (client: number | undefined): number => workers.filter(({ accepted }) => accepted.has(client)).length
  for (const endMs = performance.now() + 20_000; performance.now() < endMs; ) {
    if (clients.every((client) => ended.has(client) || holders(client) > 0)) break
    port.findLost()
    await sleep(5)
  }
  for (const client of clients) {
    if (ended.has(client)) assert.ok(holders(client) <= 1)
    else assert.equal(holders(client), 1)
  }
  assert.ok(ended.size < clients.length)
})
