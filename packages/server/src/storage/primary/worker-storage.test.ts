// Runs the storage contract (tests of every engine) with the engine of a worker, whose primary is another process, and tests of
// the channel between both.

import assert from 'node:assert/strict'
import { Duplex, Transform } from 'node:stream'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../contract/contract-harness.js'
import { storageContract } from '../contract/storage.contract.js'
import { type Change, StorageRefusedError, StorageUnavailableError } from '../storage.js'
import { delay, openContract, PrimaryHarness } from './primary-harness.fixture.js'

let primary: PrimaryHarness

describe('a worker', () => {
  before(() => {
    primary = new PrimaryHarness()
  })
  after(() => primary.close())

  storageContract('worker', () => openContract(primary))

  test('the data file ahead of the channel shows nothing before followers are notified', async () => {
    const folder = await primary.createFolder()
    const gate = gateOf(primary.connect(folder))
    const storage = await primary.openWorker(folder, { stream: gate.stream })
    const seen: Change[] = []
    storage.follow((changes) => seen.push(...changes))
    const start = storage.revision
    gate.close()
    const last = await primary.request('fill', folder)
    // Longer than the interval in which a worker looks at the data file.
    await new Promise((resolve) => setTimeout(resolve, 1200))
    assert.equal(storage.revision, start)
    assert.equal(storage.read('fill/1'), undefined)
    assert.equal(storage.count({ start: 'fill/', end: 'fill0' }), 0)
    assert.deepEqual(storage.range({ start: '', end: 'z', limit: 9 }).entries, [])
    gate.open()
    await until(() => storage.revision === last)
    assert.equal(seen.length, 1000)
    assert.deepEqual(
      seen.map(({ revision }) => revision),
      Array.from({ length: 1000 }, (_, i) => start + 1 + i),
    )
    assert.equal(storage.count({ start: 'fill/', end: 'fill0' }), 50)
    assert.equal(storage.read('fill/1')?.value.toString('utf8', 0, 2), '19')
    await storage.close()
    await primary.removeFolder(folder)
  })

  test('a read index waits for the changes up to the shared revision, without a request; without this revision it is a request', async () => {
    const folder = await primary.createFolder()
    const gate = gateOf(primary.connect(folder))
    let newest: number | undefined
    const storage = await primary.openWorker(folder, { stream: gate.stream, sharedRevision: () => newest })
    const indexOf = (revision: number | undefined) => {
      newest = revision
      const index = { isResolved: false, revision: Promise.resolve(storage.readIndex()) }
      void index.revision.then(() => (index.isResolved = true))
      return index
    }
    const start = storage.revision
    gate.closeRequests()
    assert.equal(await indexOf(start).revision, start)
    const reads = [start + 1, start + 1, start + 2].map(indexOf)
    const request = indexOf(undefined)
    await sleep(50)
    assert.deepEqual(
      [...reads, request].map(({ isResolved }) => isResolved),
      [false, false, false, false],
    )
    const last = await primary.request('fill', folder)
    for (const [i, { revision }] of reads.entries()) assert.ok((await revision) > start + Number(i === 2))
    assert.equal(request.isResolved, false)
    gate.openRequests()
    assert.equal(await request.revision, last)
    await storage.close()
    await primary.removeFolder(folder)
  })

  test('two workers: a read index of one sees every write that the other has acknowledged', async () => {
    const folder = await primary.createFolder()
    const [writer, reader] = [
      await primary.openWorker(folder),
      await primary.openWorker(folder, { stream: delay(primary.connect(folder), 3) }),
    ]
    for (let i = 0; i < 30; i++) {
      const outcome = await writer.commit([{ key: `k/${i % 3}`, value: Buffer.from(`${i}`), expect: undefined }])
      assert.ok(outcome.ok)
      assert.ok((await reader.readIndex()) >= outcome.revision)
      assert.equal(reader.read(`k/${i % 3}`)?.value.toString(), `${i}`)
    }
    await Promise.all([writer.close(), reader.close()])
    await primary.removeFolder(folder)
  })

  test('of concurrent writers with the same condition, one wins', async () => {
    const folder = await primary.createFolder()
    const workers = [await primary.openWorker(folder), await primary.openWorker(folder)] as const
    for (let round = 0; round < 20; round++) {
      const outcomes = await Promise.all(
        workers.map((worker, i) => worker.commit([{ key: `k/${round}`, value: Buffer.from(`${i}`), expect: 0 }])),
      )
      assert.deepEqual(outcomes.map(({ ok }) => ok).toSorted(), [false, true])
      const lost = outcomes.find((outcome) => !outcome.ok)
      assert.ok(lost?.ok === false && lost.current !== undefined && lost.current.revision > 0)
    }
    await Promise.all(workers.map((worker) => worker.close()))
    await primary.removeFolder(folder)
  })

  test('history that was compacted while a worker opens: it begins with a newer snapshot', async () => {
    const folder = await primary.createFolder()
    const gate = gateOf(primary.connect(folder))
    gate.closeRequests()
    const opening = primary.openWorker(folder, { stream: gate.stream })
    const last = await primary.request('fill', folder)
    await primary.request('compact', folder, last)
    // Longer than the interval of signs of life: the next frame after this greeting must be the second greeting.
    await sleep(1_500)
    gate.openRequests()
    const storage = await opening
    assert.equal(storage.revision, last)
    assert.equal(storage.compacted, last)
    assert.equal(storage.count({ start: 'fill/', end: 'fill0' }), 50)
    await storage.close()
    await primary.removeFolder(folder)
  })

  test('a process without the nonce is refused', async () => {
    const folder = await primary.createFolder()
    await assert.rejects(primary.openWorker(folder, { nonce: 'guessed' }), StorageRefusedError)
    await primary.removeFolder(folder)
  })

  test('the end of the primary rejects what is pending, and is reported once', async () => {
    const folder = await primary.createFolder()
    const lost: string[] = []
    const gate = gateOf(primary.connect(folder))
    let newest: number | undefined
    const sharedRevision = () => newest
    const storage = await primary.openWorker(folder, { stream: gate.stream, onLost: (reason) => lost.push(reason), sharedRevision })
    gate.closeRequests()
    const pending = storage.commit([{ key: 'a', value: Buffer.from('1'), expect: undefined }])
    const index = storage.readIndex()
    newest = storage.revision + 1
    const rejected = Promise.all(
      [pending, index, storage.readIndex()].map((waiting) => assert.rejects(Promise.resolve(waiting), StorageUnavailableError)),
    )
    await primary.request('close', folder)
    gate.stream.destroy()
    await rejected
    await assert.rejects(storage.commit([{ key: 'a', value: Buffer.from('1'), expect: undefined }]), StorageUnavailableError)
    assert.equal(lost.length, 1)
    await storage.close()
    await primary.removeFolder(folder)
  })
})

/** A stream whose directions a test stops. */
function gateOf(stream: Duplex) {
  const gate = () => {
    let isOpen = true
    let release: (() => void) | undefined
    const through = new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        if (isOpen) done(null, chunk)
        else release = () => done(null, chunk)
      },
    })
    return {
      through,
      open: () => {
        isOpen = true
        release?.()
        release = undefined
      },
      close: () => {
        isOpen = false
      },
    }
  }
  const [reading, writing] = [gate(), gate()]
  stream.pipe(reading.through)
  writing.through.pipe(stream)
  stream.on('close', () => reading.through.destroy())
  const gated = Duplex.from({ readable: reading.through, writable: writing.through })
  return { stream: gated, open: reading.open, close: reading.close, openRequests: writing.open, closeRequests: writing.close }
}
