// A server while etcd is unavailable or full: what works, what fails with which message, and recovery.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startServer } from 'cluster-apiserver'
import { clientOf } from '../../../../test/kit/embedded.js'
import { configMapOf, configMaps, expectFailure, expectStatus, namesOf, until, untilStatus } from '../../../../test/kit/fixtures.js'
import { newFolder, ServerProcess } from '../../../../test/kit/server-process.js'
import { timedTest } from '../../../api/src/base/testing/timed-test.fixture.js'
import { EtcdCluster, freePorts, whyNoEtcd } from './etcd-cluster.js'
import { newPrefix } from './open-replica.js'
import { startReplica } from './start-replicas.js'

describe('etcd outage', { skip: whyNoEtcd ?? false, concurrency: 3 }, () => {
  test('without quorum: reads without consistency succeed, others fail with 503 and recover', async (context) => {
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

    await untilStatus(() => client.get('/readyz'), 500)
    const [write, read, ready, live] = await Promise.all([
      client.post(configMaps('default'), configMapOf('during')),
      client.get(configMaps('default', 'before')),
      client.get('/readyz'),
      client.get('/livez/etcd'),
    ])
    assert.match(String(expectFailure(write, 503, 'ServiceUnavailable')['message']), /^the store cannot .* now: etcd /)
    assert.match(String(expectFailure(read, 503, 'ServiceUnavailable')['message']), /^the store cannot be read consistently now: etcd /)
    assert.match(expectStatus(ready, 500).text, /\[-\]etcd failed: reason withheld\n\[-\]etcd-readiness failed: reason withheld/)
    assert.match(expectStatus(live, 500).text, /no response within 2000 ms|etcd/)

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
    // The failed write may be stored or not; no event is sent twice.
    const names = events.map(({ object }) => object.metadata.name)
    assert.equal(new Set(names).size, names.length)
    watch.close()
  })

  test('a full etcd: writes fail with 503 and the reason, reads succeed', async (context) => {
    const cluster = await EtcdCluster.start({ members: 1, flags: ['--quota-backend-bytes=4000000'] })
    const { client, close } = await startReplica({ servers: cluster.endpoints, prefix: newPrefix() })
    context.after(async () => {
      await close()
      await cluster.stop()
    })
    const data = { text: 'x'.repeat(500_000) }
    let created = 0
    const refused = await until(
      async () => client.post(configMaps('default'), configMapOf(`c-${created}`, { data })),
      ({ status }) => {
        if (status === 201) created += 1
        return status !== 201
      },
    )
    assert.match(String(expectFailure(refused, 503, 'ServiceUnavailable')['message']), /database space exceeded/)
    assert.ok(created > 0)
    // The write that exceeds the quota of etcd may be stored: etcd raises the alarm afterwards.
    const { length } = namesOf(expectStatus(await client.get(configMaps('default')), 200).json)
    assert.ok(length === created || length === created + 1, `${length} of ${created}`)
    assert.match(expectStatus(await client.get('/readyz/etcd'), 500).text, /database space exceeded/)
  })

  timedTest('a server shuts down while etcd is unavailable', async (context) => {
    const cluster = await EtcdCluster.start({ members: 1 })
    context.after(() => cluster.stop())
    const server = await ServerProcess.start({ flags: [`--etcd-servers=${cluster.endpoints.join()}`, '--advertise-address=192.0.2.1'] })
    context.after(() => server.stop())
    await cluster.kill(0)
    const pending = server.client.post('/api/v1/namespaces', { metadata: { name: 'late' } }).catch(() => undefined)
    const { code } = await server.stop()
    await pending
    assert.equal(code, 0)
  })

  test('the start waits for etcd and logs it', async (context) => {
    const [port = 0] = await freePorts(1)
    const etcd = `http://127.0.0.1:${port}`
    const abort = new AbortController()
    const starting = startServer({ etcd: { servers: [etcd] }, signal: abort.signal })
    context.after(() => abort.abort())
    const state = await Promise.race([starting.then(() => 'started'), new Promise((resolve) => setTimeout(resolve, 1500, 'waiting'))])
    assert.equal(state, 'waiting')
    abort.abort()
    await assert.rejects(starting, { name: 'AbortError' })
    const outputWithin = async (timeoutMs: number): Promise<string> =>
      ServerProcess.start({ dataDir: newFolder(), flags: [`--etcd-servers=${etcd}`], timeoutMs }).then(
        () => 'it started',
        (error: Error) => error.message,
      )
    const expectedLine = `"error":"${etcd}: connection refused","msg":"etcd is unavailable; retrying"`
    const soon = await outputWithin(4000)
    assert.ok((soon.includes(expectedLine) ? soon : await outputWithin(40_000)).includes(expectedLine), soon)
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

  test('a restarted server finds everything, with its mirror or without', async (context) => {
    const cluster = await EtcdCluster.start({ members: 1 })
    const dataDir = newFolder()
    const etcd = { servers: cluster.endpoints, prefix: newPrefix() }
    context.after(() => cluster.stop())
    for (let round = 0; round < 3; round += 1) {
      const server = await startServer(round === 1 ? { etcd } : { etcd, dataDir })
      const client = clientOf(server)
      expectStatus(await client.post(configMaps('default'), configMapOf(`c-${round}`)), 201)
      // Without the root CA ConfigMap, which the server creates.
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
