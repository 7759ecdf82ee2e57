// Runs the storage contract with a worker's engine whose channel delays every chunk: each step of the protocol then happens late, and in
// every order with the checkpoints of the data file.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../contract/contract-harness.js'
import { storageContract } from '../contract/storage.contract.js'
import { delay, openContract, PrimaryHarness } from './primary-harness.fixture.js'

let primary: PrimaryHarness

describe('a worker with a slow channel', () => {
  before(() => {
    primary = new PrimaryHarness()
  })
  after(() => primary.close())

  // Delays are random: from less than a commit takes to several times as long.
  storageContract('worker, up to 10 ms', () => openContract(primary, 10))

  for (const hasShared of [true, false]) {
    test(`reads see what other workers acknowledged, ${hasShared ? 'with' : 'without'} a shared revision; followers see every change once`, async () => {
      const folder = await primary.createFolder()
      /** Revisions of acknowledged writes by key. */
      const acknowledged = new Map<string, number>()
      const parts = hasShared ? { sharedRevision: () => Math.max(0, ...acknowledged.values()) } : {}
      const open = () => primary.openWorker(folder, { stream: delay(primary.connect(folder), 4), ...parts })
      const workers = await Promise.all([open(), open(), open()])
      const followed = workers.map((worker) => {
        const revisions: number[] = []
        worker.follow((changes) => revisions.push(...changes.map(({ revision }) => revision)))
        return revisions
      })
      const committed: number[] = []
      const write = async (i: number): Promise<void> => {
        for (let round = 0; round < 60; round++) {
          const key = `k/${(i + round) % 5}`
          const outcome = await workers[i % 3]?.commit([{ key, value: Buffer.from(`${i} ${round}`), expect: undefined }])
          assert.ok(outcome?.ok)
          committed.push(outcome.revision)
          acknowledged.set(key, Math.max(acknowledged.get(key) ?? 0, outcome.revision))
        }
      }
      const read = async (i: number): Promise<void> => {
        for (let round = 0; round < 60; round++) {
          await sleep(Math.random() * 4)
          const before = new Map(acknowledged)
          await workers[i % 3]?.readIndex()
          await sleep(Math.random() * 4)
          for (const [key, revision] of before) assert.ok((workers[i % 3]?.read(key)?.revision ?? 0) >= revision)
        }
      }
      await Promise.all(Array.from({ length: 6 }, (_, i) => [write(i), read(i)]).flat())
      const expected = committed.toSorted((a, b) => a - b)
      for (const revisions of followed) {
        await until(() => revisions.length >= expected.length)
        assert.deepEqual(revisions, expected)
      }
      await Promise.all(workers.map((worker) => worker.close()))
      await primary.removeFolder(folder)
    })
  }
})
