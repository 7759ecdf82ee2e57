// Group commit: what shares a batch, what waits, and who is told when a batch fails.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { type BatchWriter, CommitQueue } from './commit-queue.js'

interface Recorded {
  readonly queue: CommitQueue<string[]>
  readonly log: string[]
  add(name: string): Promise<void>
  /** Ends the next write, as soon as it is under way. */
  finish(error?: Error): Promise<void>
}

function record(overrides: Partial<BatchWriter<string[]>> = {}): Recorded {
  const log: string[] = []
  let endWrite: ((error?: Error) => void) | undefined
  const queue = new CommitQueue<string[]>({
    begin: () => [],
    isFull: (batch) => batch.length >= 3,
    write(batch) {
      if (batch.length === 0) return undefined
      log.push(`write ${batch.join()}`)
      return new Promise<void>((resolve, reject) => {
        endWrite = (error) => (error ? reject(error) : resolve())
      })
    },
    publish(batch) {
      if (batch.length > 0) log.push(`publish ${batch.join()}`)
    },
    async recover(error) {
      log.push('recover')
      return new Error(`told: ${error}`)
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
    while (!endWrite) await turn()
    endWrite(error)
    endWrite = undefined
  }
  return { queue, log, add, finish }
}

const turns = async (count: number): Promise<void> => {
  for (let i = 0; i < count; i += 1) await turn()
}

test('a batch is written in the first turn that brings nothing; what comes while it is written is the next', async () => {
  const { log, add, finish } = record()
  const first = [add('a')]
  await turn()
  first.push(add('b'))
  await turn()
  assert.deepEqual(log, [])
  await turn()
  const second = [add('c')]
  assert.deepEqual(log, ['write a,b'])
  await turns(5)
  assert.deepEqual(log, ['write a,b'])
  await finish()
  await Promise.all(first)
  second.push(add('d'))
  await turns(2)
  assert.deepEqual(log, ['write a,b', 'publish a,b', 'resolve a', 'resolve b', 'write c,d'])
  await finish()
  await Promise.all(second)
})

test('a batch that every turn adds to is written all the same', async () => {
  const { log, add, finish } = record({ isFull: () => false })
  const all: Promise<void>[] = []
  while (log.length === 0 && all.length < 100) {
    all.push(add(String(all.length)))
    await turn()
  }
  assert.equal(all.length, 9)
  await finish()
  await Promise.all(all)
})

test('a full batch waits for nobody', async () => {
  const { log, add, finish } = record()
  const all = ['a', 'b', 'c'].map(add)
  await turn()
  assert.deepEqual(log, ['write a,b,c'])
  await finish()
  await Promise.all(all)
})

test('a full batch sends the rest to the next, in order', async () => {
  const { log, add, finish } = record()
  const all = ['a', 'b', 'c', 'd', 'e'].map(add)
  await turn()
  await finish()
  await turn()
  await turn()
  await finish()
  await Promise.all(all)
  assert.deepEqual(
    log.filter((line) => line.startsWith('write')),
    ['write a,b,c', 'write d,e'],
  )
})

test('what cannot be staged fails alone', async () => {
  const { log, add, finish } = record()
  const all = [add('a'), assert.rejects(add('bad'), /cannot be staged/), add('b')]
  await turn()
  await finish()
  await Promise.all(all)
  assert.deepEqual(log, ['write a,b', 'publish a,b', 'resolve a', 'resolve b'])
})

test('a batch that fails is told so after recovery, and takes nobody with it', async () => {
  const { log, add, finish } = record()
  const failing = [add('a'), add('b')].map((outcome) => assert.rejects(outcome, /told: Error: disk/))
  await turns(2)
  const next = add('c')
  await finish(new Error('disk'))
  await Promise.all(failing)
  await turns(2)
  await finish()
  await next
  assert.deepEqual(log, ['write a,b', 'recover', 'write c', 'publish c', 'resolve c'])
})

const throwing = () => {
  throw new Error('at once')
}
const rows = [
  { name: 'a write that throws', overrides: { write: throwing } },
  { name: 'a publication that throws', overrides: { write: () => undefined, publish: throwing } },
  { name: 'a batch that cannot begin', overrides: { begin: throwing } },
]
for (const { name, overrides } of rows) {
  test(`${name} fails those who waited`, async () => {
    const { queue, add } = record(overrides)
    await Promise.all([assert.rejects(add('a'), /at once/), assert.rejects(add('b'), /at once/)])
    await queue.close()
  })
}

test('closing waits for what was added before', async () => {
  const { queue, log, add, finish } = record()
  const all = ['a', 'b', 'c', 'd'].map(add)
  const closing = queue.close().then(() => log.push('closed'))
  await turn()
  await finish()
  await turn()
  await turn()
  await finish()
  await Promise.all([...all, closing])
  assert.equal(log.at(-1), 'closed')
})
