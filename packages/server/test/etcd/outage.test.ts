// A whole server while etcd cannot be used: what goes on, what fails and how it says so, and that all comes back by itself.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startServer } from 'cluster-apiserver'
import { timedTest } from '../../src/base/timed-test.fixture.js'
import { clientOf } from '../kit/embedded.js'
import { configMapOf, configMaps, expectFailure, expectStatus, namesOf, until } from '../kit/fixtures.js'
import { newFolder, ServerProcess } from '../kit/server-process.js'
import { EtcdCluster, freePorts, whyNoEtcd } from './etcd-cluster.js'
import { newPrefix } from './open-replica.js'
import { startReplica } from './start-replicas.js'

describe('a server without its etcd', { skip: whyNoEtcd ?? false, concurrency: 3 }, () => {
  test('too few members left: reads of any age go on, the rest fails with 503 and recovers', async (context) => {
    const cluster = await EtcdCluster.start({ members: 3 })
    const { client, close } = await startReplica({ servers: cluster.endpoints, prefix: newPrefix() })
    context.after(async () => {
      await close()
      await cluster.stop()
    })
    expectStatus(await client.post(configMaps('default'), configMapOf('before')), 201)
    expectStatus(await client.get('/readyz'), 200)
    const watch = await client.watch(`${configMaps('default')}?watch=1&resourceVersion=0`)
    await Promise.all([cluster.kill(0), cluster.kill(1)])

    // A replica that owns the right to write may rely on it for a second.
    await until(
      () => client.get('/readyz'),
      ({ status }) => status === 500,
    )
    const startMs = performance.now()
    const [write, read, ready, live] = await Promise.all([
      client.post(configMaps('default'), configMapOf('during')),
      client.get(configMaps('default', 'before')),
      client.get('/readyz'),
      client.get('/livez/etcd'),
    ])
    assert.ok(performance.now() - startMs < 40_000)
    assert.match(String(expectFailure(write, 503, 'ServiceUnavailable')['message']), /^the store cannot .* now: etcd /)
    assert.match(String(expectFailure(read, 503, 'ServiceUnavailable')['message']), /^the store cannot be read consistently now: etcd /)
    assert.match(expectStatus(ready, 500).text, /\[-\]etcd failed: reason withheld\n\[-\]etcd-readiness failed: reason withheld/)
    assert.match(expectStatus(live, 500).text, /no answer within 2000 ms|etcd/)

    const anyAge = expectStatus(await client.get(`${configMaps('default')}?resourceVersion=0`), 200)
    assert.deepEqual(namesOf(anyAge.json), ['before'])
    expectStatus(await client.get(`${configMaps('default', 'before')}?resourceVersion=0`), 200)
    const anyWatch = await client.watch(`${configMaps('default')}?watch=1&resourceVersion=0`)
    await anyWatch.atLeast(1)
    anyWatch.close()

    cluster.startMember(0)
    const after = await until(
      () => client.post(configMaps('default'), configMapOf('after')),
      ({ status }) => status === 201 || status === 409,
      60_000,
    )
    assert.ok(after.status === 201 || after.status === 409)
    await until(
      () => client.get('/readyz'),
      ({ status }) => status === 200,
      60_000,
    )
    expectStatus(await client.get(configMaps('default', 'before')), 200)
    const events = await until(
      async () => watch.events,
      (all) => all.some(({ object }) => object.metadata.name === 'after'),
    )
    // The write that failed may have been stored or not; nothing is told twice.
    const names = events.map(({ object }) => object.metadata.name)
    assert.equal(new Set(names).size, names.length)
    watch.close()
  })

  test('an etcd that is full: writes fail with 503 and say why, reads go on', async (context) => {
    const cluster = await EtcdCluster.start({ members: 1, flags: ['--quota-backend-bytes=4000000'] })
    const { client, close } = await startReplica({ servers: cluster.endpoints, prefix: newPrefix() })
    context.after(async () => {
      await close()
      await cluster.stop()
    })
    const data = { text: 'x'.repeat(500_000) }
    let made = 0
    const refused = await until(
      async () => client.post(configMaps('default'), configMapOf(`c-${made}`, { data })),
      ({ status }) => {
        if (status === 201) made += 1
        return status !== 201
      },
    )
    assert.match(String(expectFailure(refused, 503, 'ServiceUnavailable')['message']), /database space exceeded/)
    assert.ok(made > 0)
    // The write by which etcd notices that it is full may be stored: it complains behind it.
    const { length } = namesOf(expectStatus(await client.get(configMaps('default')), 200).json)
    assert.ok(length === made || length === made + 1, `${length} of ${made}`)
    assert.match(expectStatus(await client.get('/readyz/etcd'), 500).text, /database space exceeded/)
  })

  timedTest('a server whose etcd is gone ends all the same', async (context) => {
    const cluster = await EtcdCluster.start({ members: 1 })
    context.after(() => cluster.stop())
    const server = await ServerProcess.start({ flags: [`--etcd-servers=${cluster.endpoints.join()}`, '--advertise-address=192.0.2.1'] })
    context.after(() => server.stop())
    await cluster.kill(0)
    const pending = server.client.post('/api/v1/namespaces', { metadata: { name: 'late' } }).catch(() => undefined)
    const startMs = performance.now()
    const { code } = await server.stop()
    const tookMs = performance.now() - startMs
    await pending
    assert.equal(code, 0)
    assert.ok(tookMs < 8_000, `${tookMs} ms`)
  })

  test('at the start etcd is waited for, and the log says so', async (context) => {
    const [port = 0] = await freePorts(1)
    const etcd = `http://127.0.0.1:${port}`
    const abort = new AbortController()
    const starting = startServer({ etcd: { servers: [etcd] }, signal: abort.signal })
    context.after(() => abort.abort())
    const state = await Promise.race([starting.then(() => 'started'), new Promise((resolve) => setTimeout(resolve, 1500, 'waiting'))])
    assert.equal(state, 'waiting')
    abort.abort()
    await assert.rejects(starting, { name: 'AbortError' })
    const said = async (patienceMs: number): Promise<string> =>
      ServerProcess.start({ dataDir: newFolder(), flags: [`--etcd-servers=${etcd}`], patienceMs }).then(
        () => 'it started',
        (error: Error) => error.message,
      )
    const words = `etcd is unavailable, retrying: ${etcd}: nobody listens there`
    const soon = await said(4000)
    assert.ok((soon.includes(words) ? soon : await said(40_000)).includes(words), soon)
  })

  test('a data folder belongs to one server at a time', async (context) => {
    const cluster = await EtcdCluster.start({ members: 1 })
    const options = { dataDir: newFolder(), etcd: { servers: cluster.endpoints, prefix: newPrefix() } }
    const server = await startServer(options)
    context.after(async () => {
      await server.close()
      await cluster.stop()
    })
    await assert.rejects(startServer(options), /mirror is in use by/)
    await assert.rejects(startServer({ etcd: options.etcd, identity: 'kubernetes' }), /belongs to 'cluster', not to 'kubernetes'/)
  })

  test('a server that comes back finds everything, with its mirror or without', async (context) => {
    const cluster = await EtcdCluster.start({ members: 1 })
    const dataDir = newFolder()
    const etcd = { servers: cluster.endpoints, prefix: newPrefix() }
    context.after(() => cluster.stop())
    for (let round = 0; round < 3; round += 1) {
      const server = await startServer(round === 1 ? { etcd } : { etcd, dataDir })
      const client = clientOf(server)
      expectStatus(await client.post(configMaps('default'), configMapOf(`c-${round}`)), 201)
      // The root certificates of the API are there as well.
      const names = namesOf((await client.get(configMaps('default'))).json).filter((name) => name.startsWith('c-'))
      assert.deepEqual(
        names,
        Array.from({ length: round + 1 }, (_, i) => `c-${i}`),
      )
      client.close()
      await server.close()
    }
  })
})
