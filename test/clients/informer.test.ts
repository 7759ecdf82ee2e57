// The informer of npm's @kubernetes/client-node while servers come and go: its cache must be what the server holds, and nothing told twice.

import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { configMapOf, configMaps, expectStatus, sleep, until } from '../kit/fixtures.js'
import { newFolder, ServerProcess } from '../kit/server-process.js'
import type { Wire } from '../kit/wire.js'
import { type Informer, importClientNode, obtainClientNode } from './obtain-client-node.js'

const client = await obtainClientNode()
const namespace = 'default'

describe('an informer of @kubernetes/client-node', { skip: client.skip }, () => {
  test('survives the end of its server, in good order and not', async () => {
    const dataDir = newFolder()
    let server = await ServerProcess.start({ dataDir, flags: ['--identity=kubernetes'] })
    const port = server.port
    const informer = await follow(dataDir)
    try {
      await writeRound(server, 'before')
      await informer.agrees(server)
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
        await informer.agrees(server)
      }
      informer.toldEachOnce()
    } finally {
      await informer.close()
      await server.stop()
      rmSync(dataDir, { recursive: true, force: true })
    }
  })
})

/** An informer that is started again when it fails, as its manual says, with a diary. */
async function follow(dataDir: string) {
  const library = await importClientNode(client.path)
  const configuration = new library.KubeConfig()
  configuration.loadFromFile(join(dataDir, 'admin.conf'))
  const api = configuration.makeApiClient(library.CoreV1Api)
  const informer = library.makeInformer(configuration, configMaps(namespace), () => api.listNamespacedConfigMap({ namespace }))
  const diary: string[] = []
  let isOpen = true
  for (const event of ['add', 'update', 'delete'] as const) {
    informer.on(event, ({ metadata }) =>
      diary.push(`${event} ${metadata.name} ${event === 'add' ? metadata.uid : metadata.resourceVersion}`),
    )
  }
  informer.on('error', () => {
    setTimeout(() => (isOpen ? void informer.start() : undefined), 100)
  })
  await informer.start()
  return {
    agrees: (server: ServerProcess) => agreement(server, informer),
    toldEachOnce: () => assert.deepEqual(repeatedIn(diary), []),
    close: () => {
      isOpen = false
      return informer.stop()
    },
  }
}

/** Waits until the cache is what the server holds. */
async function agreement(server: ServerProcess, informer: Informer): Promise<void> {
  const held = versionsOf(expectStatus(await server.client.get(configMaps(namespace)), 200).json.items)
  await until(
    () => Promise.resolve(versionsOf(informer.list(namespace))),
    (cached) => JSON.stringify(cached) === JSON.stringify(held),
  )
}

const versionsOf = (objects: readonly Wire[]): readonly string[] =>
  objects.map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`).sort()

const repeatedIn = (texts: readonly string[]): readonly string[] => texts.filter((text, index) => texts.indexOf(text) !== index)

/** Three objects, of which one is changed and one goes again. */
async function writeRound({ client: api }: ServerProcess, prefix: string): Promise<void> {
  for (const name of ['stays', 'changes', 'goes'])
    expectStatus(await api.post(configMaps(namespace), configMapOf(`${prefix}-${name}`)), 201)
  expectStatus(await api.patch(configMaps(namespace, `${prefix}-changes`), 'application/merge-patch+json', { data: { a: '1' } }), 200)
  expectStatus(await api.delete(configMaps(namespace, `${prefix}-goes`)), 200)
}

/** Keeps a server busy to its end. */
async function writeUntilItFails({ client: api }: ServerProcess, round: number): Promise<void> {
  try {
    for (let count = 0; ; count++) {
      const { status } = await api.post(configMaps(namespace), configMapOf(`busy-${round}-${count}`))
      if (status !== 201) return
      if (count % 3 === 0) await api.delete(configMaps(namespace, `busy-${round}-${count}`))
    }
  } catch {
    // That is the end that was awaited.
  }
}
