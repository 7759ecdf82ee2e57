// The primary's end of the channel to a worker: a worker that does not read is ended, and frames must be in sequence.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { until } from '../contract/contract-harness.js'
import { openMemoryStorage } from '../memory/memory-storage.js'
import { FrameChannel } from './frame-channel.js'
import { decodeOutcome, encodeCommit, encodeHello, toPrimary, toWorker } from './messages.js'
import { serveWorkerStorage } from './serve-worker-storage.js'

describe('the primary end of a channel', () => {
  const folder = mkdtempSync(join(tmpdir(), 'channel-'))
  let server: Server
  let accepted: Socket | undefined

  before(async () => {
    server = createServer((socket) => {
      accepted = socket
    })
    await new Promise<void>((resolve) => server.listen(join(folder, 'socket'), resolve))
  })
  after(() => {
    server.close()
    rmSync(folder, { recursive: true })
  })

  async function open(limits = {}) {
    accepted = undefined
    const worker = connect(join(folder, 'socket'))
    await until(() => accepted !== undefined)
    const storage = openMemoryStorage()
    const ends: (string | undefined)[] = []
    serveWorkerStorage(accepted as unknown as Socket, {
      storage,
      nonce: 'nonce',
      appendLines: undefined,
      limits,
      onEnd: (reason) => ends.push(reason),
    })
    return { worker, storage, ends }
  }

  const channelOf = (worker: Socket) => new FrameChannel(worker, { onFrame: () => undefined, onEnd: () => undefined })

  test('a worker that does not read its changes is ended; the store continues', async () => {
    const { worker, storage, ends } = await open({ maxQueuedBytes: 1 << 20 })
    const channel = channelOf(worker)
    channel.send(toPrimary.hello, encodeHello({ nonce: 'nonce', after: storage.revision }))
    let isGreeted = false
    worker.once('data', () => {
      isGreeted = true
    })
    await until(() => isGreeted)
    worker.pause()
    for (let i = 0; i < 40; i++) {
      const outcome = await storage.commit([{ key: `k/${i % 3}`, value: Buffer.alloc(100_000), expect: undefined }])
      assert.ok(outcome.ok)
    }
    await until(() => ends.length > 0)
    assert.equal(ends.length, 1)
    assert.match(ends[0] ?? '', /has not read \d+ bytes/)
    worker.destroy()
    await storage.close()
  })

  test('many conflicts with a large entry do not fill the channel', async () => {
    const { worker, storage, ends } = await open({ maxQueuedBytes: 4 << 20 })
    await storage.commit([{ key: 'large', value: Buffer.alloc(1 << 20), expect: undefined }])
    const currents: unknown[] = []
    const channel = new FrameChannel(worker, {
      onFrame: (type, payload) => {
        if (type === toWorker.outcome) currents.push(decodeOutcome(payload).outcome)
      },
      onEnd: () => undefined,
    })
    channel.send(toPrimary.hello, encodeHello({ nonce: 'nonce', after: storage.revision }))
    for (let id = 1; id <= 50; id++)
      channel.send(toPrimary.commit, encodeCommit({ id, writes: [{ key: 'large', value: undefined, expect: 7000 }] }))
    await until(() => currents.length === 50 || ends.length > 0)
    assert.deepEqual(ends, [])
    assert.deepEqual(currents[49], { ok: false, key: 'large', currentRevision: storage.revision })
    worker.destroy()
    await storage.close()
  })

  test('a damaged commit ends the channel and changes nothing', async () => {
    const writes = ['a', 'b'].map((key) => ({ key, value: Buffer.from('1'), expect: undefined }))
    const whole = encodeCommit({ id: 1, writes })
    const oneOfTwo = Buffer.from(whole)
    oneOfTwo.writeDoubleLE(1, 8)
    const notANumber = Buffer.from(whole)
    notANumber.writeDoubleLE(Number.NaN, 8)
    for (const payload of [whole.subarray(0, -1), whole.subarray(0, 5), oneOfTwo, notANumber]) {
      const { worker, storage, ends } = await open()
      worker.on('error', () => undefined)
      const channel = channelOf(worker)
      channel.send(toPrimary.hello, encodeHello({ nonce: 'nonce', after: storage.revision }))
      channel.send(toPrimary.commit, payload)
      await until(() => ends.length > 0)
      assert.deepEqual([storage.read('a'), storage.read('b')], [undefined, undefined])
      worker.destroy()
      await storage.close()
    }
  })

  test('a commit before the nonce, a wrong nonce, and a repeated frame end the channel', async () => {
    const write = { key: 'k', value: Buffer.from('1'), expect: undefined }
    const frames: { readonly [name: string]: (worker: Socket) => void } = {
      'the first frame of a worker must be its nonce': (worker) =>
        channelOf(worker).send(toPrimary.commit, encodeCommit({ id: 1, writes: [write] })),
      'does not have the nonce of this start': (worker) =>
        channelOf(worker).send(toPrimary.hello, encodeHello({ nonce: 'guessed', after: 1 })),
      'out of sequence': (worker) => {
        for (let i = 0; i < 2; i++) channelOf(worker).send(toPrimary.hello, encodeHello({ nonce: 'nonce', after: 1 }))
      },
      'is above the limit': (worker) => void worker.write(Buffer.alloc(9, 255)),
    }
    for (const [reason, send] of Object.entries(frames)) {
      const { worker, storage, ends } = await open()
      worker.on('error', () => undefined)
      send(worker)
      await until(() => ends.length > 0)
      assert.ok(ends[0]?.includes(reason), ends[0])
      assert.equal(storage.read('k'), undefined)
      worker.destroy()
      await storage.close()
    }
  })
})
