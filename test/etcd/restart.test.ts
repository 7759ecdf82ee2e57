// A replica that ends or stands still at any moment: what it had acknowledged is there, its mirror goes on or is put right, and it harms nobody.

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Storage } from '../../src/storage/storage.js'
import { EtcdCluster, whyNoEtcd } from './etcd-cluster.js'
import { newPrefix, openReplica, put, recordingLogger } from './open-replica.js'

const everything = { start: '', end: '\u{10ffff}', limit: Number.POSITIVE_INFINITY }

class CountingProcess {
  /** Additions that it says were acknowledged, by key. */
  readonly acknowledged = new Map<string, number>()
  output = ''
  readonly #child: ChildProcess
  readonly #exited: Promise<unknown>

  constructor(endpoints: readonly string[], prefix: string, mirrorFolder: string) {
    const script = fileURLToPath(new URL('./counting-process.js', import.meta.url))
    this.#child = spawn(process.execPath, [script, endpoints.join(','), prefix, mirrorFolder], { stdio: ['ignore', 'pipe', 'inherit'] })
    this.#exited = new Promise((resolve) => this.#child.once('close', resolve))
    this.#child.stdout?.on('data', (chunk: Buffer) => {
      this.output += chunk
      for (const [, key = '', news] of chunk.toString().matchAll(/^(\S+) (\d+)$/gm)) {
        this.acknowledged.set(key, (this.acknowledged.get(key) ?? 0) + Number(news))
      }
    })
  }

  async says(text: string): Promise<void> {
    for (let waited = 0; !this.output.includes(text); waited += 10) {
      assert.ok(waited < 30_000, `the process does not say '${text}': ${this.output}`)
      await sleep(10)
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    this.#child.kill(signal)
    await this.#exited
  }
}

describe('a replica ends and begins again', { skip: whyNoEtcd ?? false }, () => {
  let cluster: EtcdCluster
  before(async () => {
    cluster = await EtcdCluster.start({ members: 1 })
  })
  after(() => cluster.stop())

  const countOf = (storage: Storage, key: string): number => Number(storage.read(key)?.value.toString() ?? 0)

  test('killed again and again', async () => {
    const prefix = newPrefix()
    const mirrorFolder = mkdtempSync(join(tmpdir(), 'mirror-test-'))
    const acknowledged = new Map<string, number>()
    for (let round = 0; round < 4; round += 1) {
      const counting = new CountingProcess(cluster.endpoints, prefix, mirrorFolder)
      await counting.says('open')
      await sleep(50 + Math.random() * 150)
      await counting.end('SIGKILL')
      for (const [key, count] of counting.acknowledged) acknowledged.set(key, (acknowledged.get(key) ?? 0) + count)
    }
    const logger = recordingLogger()
    const kept = await openReplica({ endpoints: cluster.endpoints, prefix, mirrorFolder, logger })
    const fresh = await openReplica({ endpoints: cluster.endpoints, prefix })
    assert.ok(!logger.lines.includes('etcd mirror loaded'), 'the mirror of the killed process is used')
    assert.equal(acknowledged.size, 3)
    for (const [key, count] of acknowledged) assert.ok(countOf(kept, key) >= count, `${key}: ${countOf(kept, key)} of ${count}`)
    assert.equal(kept.revision, fresh.revision)
    assert.deepEqual(kept.range(everything), fresh.range(everything))
    const since = { ...everything, after: Math.max(kept.compacted, fresh.compacted), limit: 100_000 }
    assert.deepEqual(kept.changes(since), fresh.changes(since))
    await Promise.all([kept.close(), fresh.close()])
    rmSync(mirrorFolder, { recursive: true })
  })

  test('stopped, while others write and history is compacted, and woken up', async () => {
    const prefix = newPrefix()
    const mirrorFolder = mkdtempSync(join(tmpdir(), 'mirror-test-'))
    const other = await openReplica({ endpoints: cluster.endpoints, prefix })
    const counting = new CountingProcess(cluster.endpoints, prefix, mirrorFolder)
    await counting.says('c/3')
    counting.signal('SIGSTOP')
    await other.readIndex()
    for (let index = 0; index < 50; index += 1) await put(other, `k/${index % 7}`, `${index}`)
    await other.compact(other.revision)
    await sleep(1500)
    counting.signal('SIGCONT')
    await sleep(300)
    await counting.end('SIGTERM')
    assert.match(counting.output, /closed/)
    await other.readIndex()
    for (const [key, count] of counting.acknowledged) assert.ok(countOf(other, key) >= count)
    await other.close()
    rmSync(mirrorFolder, { recursive: true })
  })

  test('a mirror of another etcd, or of another prefix, is not used', async () => {
    const mirrorFolder = mkdtempSync(join(tmpdir(), 'mirror-test-'))
    const options = { endpoints: cluster.endpoints, mirrorFolder }
    const first = await openReplica({ ...options, prefix: newPrefix() })
    await put(first, 'k/1', '1')
    await assert.rejects(openReplica({ ...options, prefix: newPrefix() }), /is in use by process/)
    await first.close()
    const second = await openReplica({ ...options, prefix: newPrefix() })
    assert.equal(second.read('k/1'), undefined)
    assert.equal(second.count(everything), 0)
    await second.close()
    rmSync(mirrorFolder, { recursive: true })
  })
})
