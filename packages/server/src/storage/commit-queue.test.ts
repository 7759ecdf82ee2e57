// Group commit: commits that share a batch, commits that wait, and failed batches.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextIteration } from 'node:timers/promises'
import { type BatchWriter, CommitQueue } from './commit-queue.js'

interface QueueFixture {
  readonly queue: CommitQueue<string[]>
  readonly log: string[]
  add(name: string): Promise<void>
  /** Completes the next write once it is in progress. */
  finish(error?: Error): Promise<void>
}

function queueFixture(overrides: Partial<BatchWriter<string[]>> = {}): QueueFixture {
  const log: string[] = []
  let endWrite: ((error?: Error) => void) | undefined
  const queue = new CommitQueue<string[]>({
    begin: () => [],
    isFull: (batch) => batch.length >= 3,
    async write(batch) {
      if (batch.length === 0) return
      log.push(`write ${batch.join()}`)
      await new Promise<void>((resolve, reject) => {
        endWrite = (error) => (error ? reject(error) : resolve())
      })
    },
    publish(batch) {
      if (batch.length > 0) log.push(`publish ${batch.join()}`)
    },
    async recover(error) {
      log.push('recover')
      return new Error(`recovered: ${error}`)
    },
    ...overrides,
  })
  const add = (name: string) =>
    new Promise<void>((resolve, reject) =>
      queue.add({
        stage(batch) {
          if (name === 'bad') throw new Error('cannot be staged')
          batch.push(name)
        },
        resolve() {
          log.push(`resolve ${name}`)
          resolve()
        },
        fail: reject,
      }),
    )
  const finish = async (error?: Error): Promise<void> => {
    while (!endWrite) await nextIteration()
    endWrite(error)
    endWrite = undefined
  }
  return { queue, log, add, finish }
}

const nextIterations = async (count: number): Promise<void> => {
  for (let i = 0; i < count; i += 1) await nextIteration()
}

test('commits beyond a full batch go to the next one, in order', async () => {
  const { log, add, finish } = queueFixture()
  const all = ['a', 'b', 'c', 'd', 'e'].map(add)
  await nextIteration()
  await finish()
  await nextIteration()
  await nextIteration()
  await finish()
  await Promise.all(all)
  assert.deepEqual(
    log.filter((line) => line.startsWith('write')),
    ['write a,b,c', 'write d,e'],
  )
})

test('a commit that cannot be staged fails alone', async () => {
  const { log, add, finish } = queueFixture()
  const all = [add('a'), assert.rejects(add('bad'), /cannot be staged/), add('b')]
  await nextIteration()
  await finish()
  await Promise.all(all)
  assert.deepEqual(log, ['write a,b', 'publish a,b', 'resolve a', 'resolve b'])
})

test('commits of a failed batch reject after recovery, and later ones succeed', async () => {
  const { log, add, finish } = queueFixture()
  const failing = [add('a'), add('b')].map((outcome) => assert.rejects(outcome, /recovered: Error: disk/))
  await nextIterations(2)
  const next = add('c')
  await finish(new Error('disk'))
  await Promise.all(failing)
  await nextIterations(2)
  await finish()
  await next
  assert.deepEqual(log, ['write a,b', 'recover', 'write c', 'publish c', 'resolve c'])
})

const throwing = (): never => {
  throw new Error('at once')
}
const rows = [
  { name: 'a write that throws', overrides: { write: async () => throwing() } },
  { name: 'a publication that throws', overrides: { write: async () => undefined, publish: throwing } },
  { name: 'a batch that cannot begin', overrides: { begin: throwing } },
]
for (const { name, overrides } of rows) {
  test(`${name} rejects the waiting commits`, async () => {
    const { queue, add } = queueFixture(overrides)
    await Promise.all([assert.rejects(add('a'), /at once/), assert.rejects(add('b'), /at once/)])
    await queue.close()
  })
}

test('close waits for earlier commits', async () => {
  const { queue, log, add, finish } = queueFixture()
  const all = ['a', 'b', 'c', 'd'].map(add)
  const closing = queue.close().then(() => log.push('closed'))
  await nextIteration()
  await finish()
  await nextIteration()
  await nextIteration()
  await finish()
  await Promise.all([...all, closing])
  assert.equal(log.at(-1), 'closed')
})
