// Shared etcd leases: limits, and no lease that ends too early, even after a clock change.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readerOf, readVarint } from '@cluster-apiserver/api/base/protobuf/protobuf-reader.js'
import { collectBytes, writeInteger, writeUint } from '@cluster-apiserver/api/base/protobuf/protobuf-writer.js'
import type { EtcdClient } from './etcd-client.js'
import { createLeases } from './leases.js'

const hour = 3_600_000

function leasesFixture() {
  const clock = { time: 1_700_000_000_000, now: () => clock.time }
  const granted: number[] = []
  const client = {
    call: async (_: string, message: Buffer) => {
      const reader = readerOf(message)
      readVarint(reader)
      granted.push(Number(readVarint(reader)))
      return Buffer.from(
        collectBytes((writer) => {
          writeInteger(writer, BigInt(granted.length) + 2n ** 62n)
          writeUint(writer, 0x10)
        }),
      )
    },
  }
  const leases = createLeases({ client: client as unknown as EtcdClient, clock, reuseMs: 60_000 })
  const leaseFor = (lifeMs: number) => leases.leaseUntil(clock.time + lifeMs, 1000)
  return { clock, granted, leases, leaseFor }
}

describe('leases', () => {
  test('are shared by keys that expire within a minute, and last long enough', async () => {
    const { clock, granted, leaseFor } = leasesFixture()
    clock.time -= clock.time % 60_000
    const first = await leaseFor(hour + 1)
    clock.time += 30_000
    assert.equal(await leaseFor(hour + 1), first)
    clock.time += 60_000
    assert.notEqual(await leaseFor(hour + 1), first)
    assert.deepEqual(granted, [3660, 3630])
  })

  test('of keys with short lives are not extended', async () => {
    const { granted, leaseFor } = leasesFixture()
    await leaseFor(60)
    await leaseFor(10_000)
    await leaseFor(-5000)
    assert.ok(
      granted.every((seconds, index) => seconds <= ([1, 11, 1][index] ?? 0)),
      granted.join(),
    )
  })

  test('are shared by no more keys than an etcd revision has numbers', async () => {
    const { granted, leaseFor } = leasesFixture()
    for (let index = 0; index < 600; index += 1) await leaseFor(hour)
    assert.equal(granted.length, 3)
  })

  test('are not reused after the clock was set back', async () => {
    const { clock, granted, leaseFor } = leasesFixture()
    clock.time -= clock.time % 60_000
    const lifeMs = 61_000 * 20
    await leaseFor(lifeMs)
    // The expiry time stays the same, but the key must live longer than the first lease.
    clock.time -= lifeMs / 2
    await leaseFor(lifeMs * 1.5)
    assert.equal(granted.length, 2)
    assert.ok((granted[1] ?? 0) >= (lifeMs * 1.5) / 1000)
  })

  test('that etcd has lost are granted again', async () => {
    const { granted, leases, leaseFor } = leasesFixture()
    await leaseFor(hour)
    leases.forget()
    await leaseFor(hour)
    assert.equal(granted.length, 2)
  })
})
