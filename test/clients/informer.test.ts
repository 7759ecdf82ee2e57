// Informer of @kubernetes/client-node across server restarts: its cache equals the server, and no event is repeated.

import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { configMapOf, configMaps, expectStatus, sleep, until } from '../kit/fixtures.js'
import type { JsonObject } from '../kit/network/json-object.js'
import { newFolder, ServerProcess } from '../kit/server-process.js'
import { type Informer, importClientNode, obtainClientNode } from './obtain-client-node.js'

const client = await obtainClientNode()
const namespace = 'default'

describe('informer of @kubernetes/client-node', { skip: client.skip }, () => {
  test('survives graceful and abrupt server restarts', async () => {
    const dataDir = newFolder()
    let server = await ServerProcess.start({ dataDir, flags: ['--identity=kubernetes'] })
    const port = server.port
    const informer = await startInformer(dataDir)
    try {
      await writeRound(server, 'before')
      await informer.untilEqual(server)
      const ends: readonly ('SIGKILL' | 'SIGTERM')[] = ['SIGKILL', 'SIGTERM', 'SIGKILL']
      for (const [round, signal] of ends.entries()) {
        const writing = writeUntilItFails(server, round)
        await sleep(200)
        server.signal(signal)
        await server.exited
        await writing
        server.client.close()
        server = await ServerProcess.start({ dataDir, flags: ['--identity=kubernetes', `--secure-port=${port}`] })
        await writeRound(server, `after-${round}`)
        await informer.untilEqual(server)
      }
      informer.expectNoRepeats()
    } finally {
      await informer.close()
      await server.stop()
      rmSync(dataDir, { recursive: true, force: true })
    }
  })
})

/** An informer that is restarted on error, as its documentation says; records its events. */
async function startInformer(dataDir: string) {
  const library = await importClientNode(client.path)
  const configuration = new library.KubeConfig()
  configuration.loadFromFile(join(dataDir, 'admin.conf'))
  const api = configuration.makeApiClient(library.CoreV1Api)
  const informer = library.makeInformer(configuration, configMaps(namespace), () => api.listNamespacedConfigMap({ namespace }))
  const recordedEvents: string[] = []
  let isOpen = true
  for (const event of ['add', 'update', 'delete'] as const) {
    informer.on(event, ({ metadata }) =>
      recordedEvents.push(`${event} ${metadata.name} ${event === 'add' ? metadata.uid : metadata.resourceVersion}`),
    )
  }
  informer.on('error', () => {
    setTimeout(() => (isOpen ? void informer.start() : undefined), 100)
  })
  await informer.start()
  return {
    untilEqual: (server: ServerProcess) => untilCacheEquals(server, informer),
    expectNoRepeats: () => assert.deepEqual(repeatedIn(recordedEvents), []),
    close: () => {
      isOpen = false
      return informer.stop()
    },
  }
}

/** Waits until the cache equals the server. */
async function untilCacheEquals(server: ServerProcess, informer: Informer): Promise<void> {
  const stored = versionsOf(expectStatus(await server.client.get(configMaps(namespace)), 200).json.items)
  await until(
    () => Promise.resolve(versionsOf(informer.list(namespace))),
    (cached) => JSON.stringify(cached) === JSON.stringify(stored),
  )
}

const versionsOf = (objects: readonly JsonObject[]): readonly string[] =>
  objects.map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`).sort()

const repeatedIn = (texts: readonly string[]): readonly string[] => texts.filter((text, index) => texts.indexOf(text) !== index)

/** Creates three objects, updates one and deletes one. */
async function writeRound({ client: api }: ServerProcess, prefix: string): Promise<void> {
  for (const name of ['stays', 'changes', 'goes'])
    expectStatus(await api.post(configMaps(namespace), configMapOf(`${prefix}-${name}`)), 201)
  expectStatus(await api.patch(configMaps(namespace, `${prefix}-changes`), 'application/merge-patch+json', { data: { a: '1' } }), 200)
  expectStatus(await api.delete(configMaps(namespace, `${prefix}-goes`)), 200)
}

/** Sends requests until the server stops. */
async function writeUntilItFails({ client: api }: ServerProcess, round: number): Promise<void> {
  try {
    for (let count = 0; ; count++) {
      const { status } = await api.post(configMaps(namespace), configMapOf(`busy-${round}-${count}`))
      if (status !== 201) return
      if (count % 3 === 0) await api.delete(configMaps(namespace, `busy-${round}-${count}`))
    }
  } catch {
    // The expected end.
  }
}
